import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { closeOnSignal } from '@examples/close-on-signal'
import { AppModule } from './nestjs-app.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const app = await NestFactory.create<NestFastifyApplication>(
  AppModule,
  // Serves requests while closing. By default, Fastify responds 503.
  new FastifyAdapter({ return503OnClosing: false }),
  { logger: false },
)

closeOnSignal(app.getHttpServer(), () => app.close())

await app.listen(port, host)
console.log('Listening on', app.getHttpServer().address())

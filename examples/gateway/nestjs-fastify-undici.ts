import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { closeOnSignal } from '@examples/close-on-signal'
import { AppModule } from './nestjs-undici-app.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const app = await NestFactory.create<NestFastifyApplication>(
  AppModule,
  // Serve requests that arrive during shutdown. By default, Fastify rejects them with a 503.
  new FastifyAdapter({ return503OnClosing: false }),
  { logger: false },
)

closeOnSignal(app.getHttpServer(), () => app.close())

await app.listen(port, host)
console.log('Listening on', app.getHttpServer().address())

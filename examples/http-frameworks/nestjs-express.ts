import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { closeOnSignal } from '@examples/close-on-signal'
import { AppModule } from './nestjs-app.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: false })

// Both cost CPU and bytes that the other servers do not spend.
app.disable('x-powered-by')
app.disable('etag')

closeOnSignal(app.getHttpServer(), () => app.close())

await app.listen(port, host)
console.log('Listening on', app.getHttpServer().address())

import type { INestApplication } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { AppModule } from './nestjs-app.ts'

/** The app of `nestjs-express.ts` for workers: `clustered-server start nestjs-default.ts`. */
export default function app(): Promise<INestApplication> {
  return NestFactory.create(AppModule, { logger: false })
}

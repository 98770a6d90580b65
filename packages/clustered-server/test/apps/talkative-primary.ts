// A program that has its workers by the factory, and writes what happens to stdout itself.

import { createClusteredServer, type Logger } from '../../src/index.ts'

const { APP_PORT, ADMIN_PORT, WORKERS } = process.env
const write = (about: object, message: string): void =>
  void process.stdout.write(`${JSON.stringify(about)} ${message}\n`)
const logger: Logger = { info: write, warn: write, error: write }
await createClusteredServer(new URL('talkative.ts', import.meta.url), {
  workers: Number(WORKERS),
  port: Number(APP_PORT),
  host: '127.0.0.1',
  admin: { port: Number(ADMIN_PORT) },
  heartbeatTimeout: 10_000,
  logger,
})

import { setImmediate } from 'node:timers/promises'
import { initTRPC } from '@trpc/server'
import Fastify, { type FastifyServerOptions } from 'fastify'
import { trpcPlugin } from 'trpc-fastify'
import { openApiPlugin } from 'trpc-fastify/openapi'
import { expect, it, onTestFinished } from 'vitest'

/** The warnings of the process when both plugins are registered with `callLogLevel`. */
async function warningsOf(options: FastifyServerOptions): Promise<string[]> {
  const warnings: string[] = []
  const add = ({ name, message }: Error): unknown => warnings.push(`${name}: ${message}`)
  process.on('warning', add)
  onTestFinished(() => void process.off('warning', add))
  const trpcOptions = { router: initTRPC.create().router({}) }
  await using app = Fastify(options)
  await app.register(trpcPlugin, { prefix: '/trpc', trpcOptions, callLogLevel: 'info' })
  await app.register(openApiPlugin, { prefix: '/api', trpcOptions, callLogLevel: 'info' })
  await setImmediate()
  return warnings
}

it('callLogLevel warns once if the log of the app is off', async () => {
  expect(await warningsOf({})).toEqual([
    'TrpcFastifyWarning: callLogLevel logs nothing, because the log is off. Turn it on by Fastify({ logger: true }).',
  ])
})

it.each<FastifyServerOptions>([
  { logger: { level: 'silent' } },
  { logger: { level: 'error' } },
  { logger: { level: 'info', stream: { write: () => undefined } } },
])('callLogLevel does not warn with the logger %o', async (options) => {
  expect(await warningsOf(options)).toEqual([])
})

// An app that is stopped by a signal: it tells its parent where it listens, and by its exit what was done.

import Fastify, { type FastifyInstance } from 'fastify'
import {
  createNextOnFastify,
  type CreateNextOnFastifyOptions,
  nextPlugin,
  type NextPluginOptions,
} from 'next-on-fastify'

const { OPTIONS, WITH } = process.env
const done = globalThis as { afterIsDone?: boolean }

async function started(): Promise<FastifyInstance> {
  const options = JSON.parse(OPTIONS!) as CreateNextOnFastifyOptions
  if (WITH !== 'plugin') return createNextOnFastify(options)
  const app = Fastify()
  await app.register(nextPlugin, options as NextPluginOptions)
  return app
}

const app = await started()
if (WITH === 'hook that hangs') app.addHook('onClose', () => new Promise(() => undefined))
const origin = await app.listen({ host: '127.0.0.1', port: 0 })
// As workers of clustered-server have it.
if (WITH === 'listener') process.on('SIGTERM', () => process.send!('left to the listener'))
// Something that would keep the process alive.
setInterval(() => undefined, 60_000)
process.on('exit', () => process.stdout.write(`after() is done: ${done.afterIsDone === true}\n`))
process.send!(origin)

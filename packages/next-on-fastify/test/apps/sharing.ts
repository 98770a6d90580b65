// A process of several that serve one app: it tells its parent where it listens.

import { createNextOnFastify, type NextPluginOptions } from 'next-on-fastify'
import { createClient } from 'redis'

const { OPTIONS, REDIS } = process.env

const options = JSON.parse(OPTIONS!) as NextPluginOptions
if (REDIS !== undefined) options.cache = { redis: await connect(REDIS), timeout: 2000 }
const app = await createNextOnFastify({ ...options, dev: false })
app.get('/counts', async () => app.nextMemory.get('')?.counts ?? {})
process.send!(await app.listen({ host: '127.0.0.1', port: 0 }))
process.once('disconnect', () => process.exit())

/** What sends commands to the Redis of that socket. */
async function connect(path: string): Promise<(command: string[]) => Promise<unknown>> {
  const client = createClient({ socket: { path, reconnectStrategy: 20 }, disableOfflineQueue: true })
  client.on('error', () => {})
  await client.connect()
  return (command) => client.sendCommand(command)
}

import { createServer } from 'node:http'
import Fastify from 'fastify'
import fastifyWriteBatching, {
  batchConnection,
  createWriteBatch,
  type WriteBatchingStats,
} from 'fastify-write-batching'
import { expectTypeOf } from 'vitest'

const app = Fastify()
await app.register(fastifyWriteBatching)
await app.register(import('fastify-write-batching'))
await Fastify({ http2: true }).register(fastifyWriteBatching)
expectTypeOf(app.writeBatchingStats()).toEqualTypeOf<WriteBatchingStats>()

// @ts-expect-error There are no options.
await app.register(fastifyWriteBatching, { enabled: true })

const batch = createWriteBatch()
createServer(({ socket }) => batchConnection(socket, batch))

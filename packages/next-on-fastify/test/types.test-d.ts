// Which app one has depends on the protocol that Fastify is told to speak.

import type { Http2SecureServer, Http2Server } from 'node:http2'
import type { Server } from 'node:https'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { expectTypeOf } from 'vitest'
import { createNextOnFastify, nextPlugin, routableUrl } from '../src/index.ts'
import { fastifyRequest } from '../src/request.ts'

const dir = 'web'

expectTypeOf(createNextOnFastify()).resolves.toEqualTypeOf<FastifyInstance>()
expectTypeOf(createNextOnFastify({ dir })).resolves.toEqualTypeOf<FastifyInstance>()
expectTypeOf(createNextOnFastify({ dir, fastify: { logger: true } })).resolves.toEqualTypeOf<FastifyInstance>()
expectTypeOf(createNextOnFastify({ dir, fastify: { https: {} } })).resolves.toEqualTypeOf<FastifyInstance<Server>>()
expectTypeOf(createNextOnFastify({ dir, fastify: { http2: true } })).resolves.toEqualTypeOf<
  FastifyInstance<Http2Server>
>()
expectTypeOf(
  createNextOnFastify({ dir, fastify: { http2: true, https: { allowHTTP1: true } } }),
).resolves.toEqualTypeOf<FastifyInstance<Http2SecureServer>>()

// The plugin goes into each of them.
await Fastify({ rewriteUrl: routableUrl, logger: true }).register(nextPlugin, { dir })
await Fastify({ https: {} }).register(nextPlugin, { dir })
await Fastify({ http2: true }).register(nextPlugin, { dir })
await Fastify({ http2: true, https: { allowHTTP1: true } }).register(nextPlugin, { dir })
// @ts-expect-error There is no such level.
await Fastify({ http2: true }).register(nextPlugin, { logLevel: 'loud' })

expectTypeOf(fastifyRequest()).resolves.toEqualTypeOf<FastifyRequest>()

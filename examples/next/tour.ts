// One server to look at: a cached page, a page behind middleware, a revalidation, and metrics that tell them apart.
// Build it with NEXT_VARIANT=proxy.

import Fastify from 'fastify'
import { bareClientError, nextPlugin, routableUrl } from 'next-on-fastify'
import { prometheusObserver } from 'next-on-fastify/prometheus'
import { Registry } from 'prom-client'
import { closeOnSignal } from '@examples/close-on-signal'
import { dir, fail, host, port } from './app.ts'

const registry = new Registry()
const app = Fastify({ rewriteUrl: routableUrl, clientErrorHandler: bareClientError, return503OnClosing: false })
app.get('/metrics', (_request, reply) => registry.metrics().then((text) => reply.type(registry.contentType).send(text)))
await app.register(nextPlugin, {
  dir,
  dev: false,
  // A header says how each response was served.
  responseCache: { cacheStatus: true },
  observers: [prometheusObserver({ registry })],
})

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port }).catch(fail)
console.log('Listening on', app.server.address())

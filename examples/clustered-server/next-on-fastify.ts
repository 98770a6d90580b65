// The Next app of `examples/next` in several processes: build it there first, by `node build.ts`.

import { createClusteredServer } from 'clustered-server'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)
const workers = process.env.WORKERS === 'auto' ? 'auto' : Number(process.env.WORKERS ?? 2)

const app = new URL('../next/next-on-fastify-app.ts', import.meta.url)
const server = await createClusteredServer(app, { host, port, workers })
console.log('Listening on', { address: server.host, port: server.port })

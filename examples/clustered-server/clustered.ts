import { createClusteredServer } from 'clustered-server'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)
const workers = process.env.WORKERS === 'auto' ? 'auto' : Number(process.env.WORKERS ?? 2)

const server = await createClusteredServer(new URL('./app.ts', import.meta.url), { host, port, workers })
console.log('Listening on', { address: server.host, port: server.port })

// The server of a deployment: the Next app in the working directory, with the defaults of next-on-fastify.

import { createNextOnFastify } from '../../packages/next-on-fastify/src/index.ts'

const port = Number(process.env['PORT'])
const app = await createNextOnFastify({ dir: process.cwd(), port, fastify: { logger: { level: 'warn' } } })
await app.listen({ port, host: 'localhost' })
process.send?.('listening')

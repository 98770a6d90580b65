import { createServer } from 'node:http'

// The port of its own is not that which it was told.
createServer().listen({ port: Number(process.env['OWN_PORT']), host: '127.0.0.1' })

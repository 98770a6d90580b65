// A program that starts an app, asks it, closes it, and has no more to do: told its folder.

import { createNextOnFastify } from 'next-on-fastify'

const app = await createNextOnFastify({ dir: process.argv[2]!, dev: false })
const origin = await app.listen({ host: '127.0.0.1', port: 0 })
const response = await fetch(origin)
console.log(`status ${response.status}, ${(await response.text()).includes('<h1>Home</h1>')}`)
await app.close()
console.log('closed')

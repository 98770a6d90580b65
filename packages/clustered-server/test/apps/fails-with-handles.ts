import { createServer } from 'node:net'

/** Fails after it has opened what would keep a process from its end. */
export default function failsWithHandles(): never {
  createServer().listen({ port: 0, host: '127.0.0.1', exclusive: true })
  setInterval(() => {}, 1000)
  throw new Error('the database is not there')
}

import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { Journal } from './journal.ts'

/** Listens, sends a query without input for each path over one WebSocket at `/trpc`, and returns the responses as they come. */
export async function overWebSocket(app: FastifyInstance, ...paths: string[]): Promise<unknown[]> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  const socket = new WebSocket(`ws://127.0.0.1:${port}/trpc`)
  onTestFinished(() => socket.terminate())
  const answers = new Journal<string>()
  socket.on('message', (message: Buffer) => answers.add(message.toString()))
  await once(socket, 'open')
  for (const [id, path] of paths.entries()) socket.send(JSON.stringify({ id, method: 'query', params: { path } }))
  await answers.untilSome(() => true, paths.length)
  return answers.entries.map((answer) => JSON.parse(answer) as unknown)
}

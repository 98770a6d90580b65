import { createServer, type Server } from 'node:http'
import { WebSocketServer } from 'ws'
import { answer } from './faults.ts'

/** Says to each client of WebSocket what it says. */
export default function webSocket(): Server {
  const server = createServer((request, response) => void answer(request, response))
  new WebSocketServer({ server }).on('connection', (socket) => {
    socket.on('message', (message: Buffer) => socket.send(message.toString()))
  })
  return server
}

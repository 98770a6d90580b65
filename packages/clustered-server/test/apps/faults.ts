import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/** Answers the clients of the fault load, each in its way. */
export async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, what, id] = request.url!.split('/')
  switch (what) {
    case 'sum':
      response.end(
        createHash('sha1')
          .update(Buffer.concat((await request.toArray()) as Buffer[]))
          .digest('hex'),
      )
      return
    case 'slow':
      await wait(150)
      break
    case 'wait':
      await wait(Number(id))
      break
    case 'stream':
      for (const digit of id!) {
        response.write(digit)
        await wait(20)
      }
      response.end()
      return
    case 'events':
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${process.pid}\n\n`)
      return
    case 'pid':
      response.end(String(process.pid))
      return
    case 'busy': {
      const end = performance.now() + Number(id)
      while (performance.now() < end);
      break
    }
    case 'block':
      for (;;);
    case 'die':
      process.kill(process.pid, 'SIGKILL')
  }
  response.end(id)
}

/** A server of `node:http`. */
export default function faults(): Server {
  return createServer((request, response) => void answer(request, response))
}

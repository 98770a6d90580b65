import { setTimeout } from 'node:timers/promises'

export const dynamic = 'force-dynamic'

export function GET(): Response {
  const events = new ReadableStream({
    async start(controller) {
      for (let id = 1; id <= 3; id++) {
        controller.enqueue(new TextEncoder().encode(`id: ${id}\ndata: event ${id}\n\n`))
        await setTimeout(50)
      }
      controller.close()
    },
  })
  return new Response(events, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } })
}

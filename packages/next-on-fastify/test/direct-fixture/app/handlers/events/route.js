import { setTimeout } from 'node:timers/promises'

export const dynamic = 'force-dynamic'

export function GET() {
  let id = 0
  const encoder = new TextEncoder()
  const events = new ReadableStream({
    async pull(controller) {
      if (id === 3) return controller.close()
      await setTimeout(20)
      controller.enqueue(encoder.encode(`id: ${++id}\ndata: event\n\n`))
    },
  })
  return new Response(events, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } })
}

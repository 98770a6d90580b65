import { setTimeout } from 'node:timers/promises'

export const dynamic = 'force-dynamic'

/** Sends until the client has left, but at the first time. */
export function GET() {
  const encoder = new TextEncoder()
  const first = globalThis.endless === undefined
  globalThis.endless = { left: false }
  return new Response(
    new ReadableStream({
      async pull(controller) {
        controller.enqueue(encoder.encode('more\n'))
        if (first) return controller.close()
        await setTimeout(10)
      },
      cancel() {
        globalThis.endless.left = true
      },
    }),
  )
}

import { setTimeout } from 'node:timers/promises'
import { after } from 'next/server'

export const dynamic = 'force-dynamic'

export function GET() {
  after(async () => {
    await setTimeout(2000)
    globalThis.afterIsDone = (globalThis.afterIsDone ?? 0) + 1
  })
  return new Response('answered')
}

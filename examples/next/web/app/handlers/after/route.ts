import { after } from 'next/server'
import { setTimeout } from 'node:timers/promises'
import { renderOf } from '../../../renders'

export const dynamic = 'force-dynamic'

/** What it does after its answer is counted: the next answer tells. */
export function GET(): Response {
  const before = globalThis.renders?.get('after') ?? 0
  after(async () => {
    await setTimeout(10)
    renderOf('after')
  })
  return Response.json({ before })
}

import { after } from 'next/server'
import { setTimeout } from 'node:timers/promises'
import { renderOf } from '../../../renders'

export const dynamic = 'force-dynamic'

/** Work after the response is counted: the next response shows the number. */
export function GET(): Response {
  const before = globalThis.renders?.get('after') ?? 0
  after(async () => {
    await setTimeout(10)
    renderOf('after')
  })
  return Response.json({ before })
}

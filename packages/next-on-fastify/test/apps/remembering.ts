// An app that tells its parent which requests, responses and what Node has of both are alive after they have ended: run it with
// --expose-gc.

import { setTimeout } from 'node:timers/promises'
import { createNextOnFastify, type NextPluginOptions } from 'next-on-fastify'

const options = JSON.parse(process.env['OPTIONS']!) as NextPluginOptions
const app = await createNextOnFastify({ ...options, dev: false })

interface Seen {
  readonly what: string
  readonly ref: WeakRef<object>
}

let seen: Seen[] = []

app.addHook('onRequest', async (request, reply) => {
  const url = `${request.method} ${request.url}`
  const all = { request, reply, message: request.raw, response: reply.raw, headers: request.raw.headers }
  for (const [name, object] of Object.entries(all)) seen.push({ what: `${url} ${name}`, ref: new WeakRef(object) })
})
app.get('/own', async () => 'own')

/** Next itself has the headers of the last request there, by `next start` too. */
const ofNext = (): { requestHeaders?: object } | undefined =>
  Reflect.get(globalThis, '__incrementalCache') as object | undefined

function isHeld(ref: WeakRef<object>): boolean {
  const object = ref.deref()
  return object !== undefined && object !== ofNext()?.requestHeaders
}

/** What is alive, once V8 has had the time to find that nothing holds it. */
async function alive(): Promise<string[]> {
  // Node has a timer of one second for the date in heads, which the first request of a second begins.
  for (let time = 0; time < 40; time++) {
    await setTimeout(100)
    globalThis.gc!()
    if (!seen.some(({ ref }) => isHeld(ref))) break
  }
  const found = seen.flatMap(({ what, ref }) => (isHeld(ref) ? [what] : []))
  seen = []
  return found
}

const origin = await app.listen({ host: '127.0.0.1', port: 0 })
process.on('message', () => void alive().then((found) => process.send!(found)))
process.send!(origin)

// A gateway in a process of its own, that tells its parent what it holds of past requests: run it with --expose-gc and
// --allow-natives-syntax. UPSTREAM is an origin.

import { AsyncLocalStorage } from 'node:async_hooks'
import { writeHeapSnapshot } from 'node:v8'
import { runInThisContext } from 'node:vm'
import Fastify from 'fastify'
import { Aggregate } from '../../src/aggregate.ts'
import { Attempt } from '../../src/attempt.ts'
import { Call } from '../../src/call.ts'
import { PooledRequest } from '../../src/connections.ts'
import { gatewayPlugin } from '../../src/index.ts'
import { JsonBodyReader } from '../../src/json-body.ts'
import { keptObjects } from '../../src/kept-classes.ts'
import { WaitingClient } from '../../src/waiting-client.ts'

/** What is alive of past requests, and a file with all strings of the heap. */
export interface Held {
  readonly alive: readonly string[]
  readonly watched: number
  readonly snapshot: string
}

/** Which classes of the objects that requests make are those of the objects that are kept. */
export type Classes = Readonly<Record<string, boolean>>

const watched: { readonly kind: string; readonly reference: WeakRef<object> }[] = []
const watch = (kind: string, one: unknown): void => {
  if (typeof one === 'object' && one !== null) watched.push({ kind, reference: new WeakRef(one) })
}

const haveSameClass = runInThisContext('(one, other) => %HaveSameMap(one, other)') as (
  a: unknown,
  b: unknown,
) => boolean
const classes: Record<string, boolean> = {}
const compare = (one: object): void => {
  const kept = keptObjects().find((other) => other!.constructor === one.constructor)
  classes[one.constructor.name] = haveSameClass(one, kept)
}

/** Calls a function whenever a method is called. */
function observe<Name extends string>(
  { prototype }: { prototype: Record<Name, (...args: never[]) => unknown> },
  name: Name,
  told: (self: object, args: readonly unknown[], result: unknown) => void,
): void {
  const method = prototype[name] as (...args: unknown[]) => unknown
  Object.defineProperty(prototype, name, {
    value(this: object, ...args: unknown[]): unknown {
      const result = method.apply(this, args)
      told(this, args, result)
      return result
    },
  })
}

observe(PooledRequest, 'onResponseStart', (self, args) => {
  watch('headers of an upstream', args[2])
  watch('request on a connection', self)
})
observe(PooledRequest, 'onResponseData', (_self, args) => watch('bytes of an upstream', args[1]))
observe(PooledRequest, 'onResponseEnd', (self, [controller]) => {
  compare(self)
  compare(controller as object)
})
observe(JsonBodyReader, 'read', (_self, args, result) => {
  watch('bytes of a body', args[0])
  watch('body', result)
})
observe(Attempt, 'onResponseEnd', compare)
observe(Attempt, 'dispatch', (self) => watch('attempt', self))
observe(Call, 'attemptEnded', compare)
observe(Aggregate, 'callEnded', compare)
observe(Aggregate, 'join', (self) => watch('aggregate', self))
observe(WaitingClient, 'send', compare)

// Node makes them at the first use, which is a `pipe()`, and has them hold the AsyncLocalStorage of that request.
void [process.stdout, process.stderr]

const storage = new AsyncLocalStorage<object>()
const app = Fastify()
app.get('/plain/:id', () => ({}))
app.addHook('onRequest', (request, reply, done) => {
  if (request.url.startsWith('/plain/')) return done()
  watch('request', request)
  watch('reply', reply)
  watch('request of Node', request.raw)
  watch('response of Node', reply.raw)
  const store = { url: request.url }
  watch(`store of an AsyncLocalStorage for /${request.url.split('/')[1]}`, store)
  storage.run(store, done)
})
app.addHook('preHandler', async ({ body }) => watch('body of a client', body))
app.addHook('onSend', async (_request, _reply, payload) => watch('payload', payload))

const upstream = 'it'
const forwardHeaders = ['x-secret']
await app.register(gatewayPlugin, {
  upstreams: { it: process.env['UPSTREAM']!, kept: { origin: process.env['UPSTREAM']!, cache: true } },
  endpoints: [
    { path: '/call/:id', calls: { one: { upstream, path: '/json/{params.id}', forwardHeaders } } },
    {
      path: '/composed/:id',
      calls: { one: { upstream, path: '/json/{params.id}' }, two: { upstream, path: '/json/{calls.one.id}' } },
      compose: (values: unknown) => values,
    },
    {
      path: '/post/:id',
      method: 'POST',
      calls: { one: { upstream, method: 'POST', path: '/json/{params.id}', forwardBody: true, forwardHeaders } },
    },
    { path: '/hedged/:id', calls: { one: { upstream, path: '/late/{params.id}', hedge: 5, forwardHeaders } } },
    { path: '/retried/:id', calls: { one: { upstream, path: '/fails-once/{params.id}', retry: 1, forwardHeaders } } },
    { path: '/cached/:id', calls: { one: { upstream: 'kept', path: '/json/{params.id}', forwardHeaders } } },
    { path: '/coalesced/:id', coalesce: true, calls: { one: { upstream, path: '/late/{params.id}', forwardHeaders } } },
    { path: '/failed/:id', calls: { one: { upstream, path: '/fails/{params.id}', forwardHeaders } } },
    { path: '/late/:id', timeout: 50, calls: { one: { upstream, path: '/hangs/{params.id}', forwardHeaders } } },
    { path: '/left/:id', calls: { one: { upstream, path: '/hangs/{params.id}', forwardHeaders } } },
    { path: '/download/:id', passThrough: { upstream, path: '/large/{params.id}', forwardHeaders } },
    { path: '/stream-left/:id', passThrough: { upstream, path: '/stream/{params.id}', forwardHeaders } },
    {
      path: '/upload/:id',
      method: 'POST',
      passThrough: { upstream, path: '/json/{params.id}', forwardBody: true, forwardHeaders },
    },
  ],
})
await app.listen({ port: 0, host: '127.0.0.1' })

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

process.on('message', async (question) => {
  if (question === 'which classes are kept?') {
    process.send!(classes)
    return
  }
  // Longer than what is dropped when a call rests takes.
  await pause(2500)
  for (let round = 0; round < 5; round++) {
    globalThis.gc!()
    await pause(20)
  }
  const snapshot = writeHeapSnapshot(String(question))
  const alive = watched.filter(({ reference }) => reference.deref() !== undefined).map(({ kind }) => kind)
  const held: Held = { alive, watched: watched.length, snapshot }
  process.send!(held)
})
process.send!(app.server.address())

import { lazy } from '@trpc/server'
import { describe, it } from 'vitest'
import { compare, type ComparedRequest } from '../../helpers/differential/compare.ts'
import type { Recorder } from '../../helpers/differential/recorder.ts'
import { streamed } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC } from '../../helpers/differential/router.ts'

// Each app has a router of its own: one that is loaded for one of them would be loaded for all.
// oxlint-disable-next-line typescript/explicit-function-return-type -- tRPC names no type for it
function lazyMount(recorder: Recorder) {
  const t = observedTRPC(recorder)
  const echo = t.procedure
    .input((value) => value)
    .query((call) => {
      recorder.seeCall('echo', call)
      return call.input
    })
  const load = async (name: string) => {
    recorder.see('loaded', name)
    await Promise.resolve()
    return { router: t.router({ query: echo, mutation: t.procedure.mutation(() => name) }) }
  }
  let failures = 0
  const router = t.router({
    eager: echo,
    loaded: lazy(() => load('loaded')),
    other: lazy(() => load('other')),
    nested: t.router({ deep: lazy(() => load('deep')) }),
    outer: lazy(async () => ({ router: t.router({ query: echo, inner: lazy(() => load('inner')) }) })),
    failing: lazy((): Promise<{ router: ReturnType<typeof t.router<{ query: typeof echo }>> }> =>
      Promise.reject(new Error('not loaded')),
    ),
    failingOnce: lazy(async () => {
      if (failures++ === 0) throw new Error('not loaded at first')
      return load('failingOnce')
    }),
  })
  return { router, options: observed(recorder) }
}

const first = (url: string): ComparedRequest => ({ url, on: 'procedure' })
const later = (url: string): ComparedRequest => ({ url, on: 'compiled' })

/** Requests in their order: those that load a router, and those that find it loaded. */
const SEQUENCES: Readonly<Record<string, readonly ComparedRequest[]>> = {
  'once, then again': [
    first('/trpc/loaded.query?input=1'),
    later('/trpc/loaded.query?input=2'),
    later('/trpc/loaded.query'),
  ],
  'an unknown procedure of a lazy router': [
    first('/trpc/loaded.unknown'),
    first('/trpc/loaded.unknown'),
    later('/trpc/loaded.query'),
  ],
  'the lazy router itself': [first('/trpc/loaded'), later('/trpc/loaded.query')],
  'nested in a router': [
    first('/trpc/nested.deep.query?input=1'),
    later('/trpc/nested.deep.query?input=1'),
    first('/trpc/nested.query'),
  ],
  'lazy in a lazy one': [
    first('/trpc/outer.inner.query'),
    later('/trpc/outer.query'),
    later('/trpc/outer.inner.query'),
  ],
  'lazy in a lazy one, from outside': [
    first('/trpc/outer.query'),
    first('/trpc/outer.inner.query'),
    later('/trpc/outer.inner.query'),
  ],
  'one that never loads': [first('/trpc/failing.query'), first('/trpc/failing.query'), later('/trpc/eager?input=1')],
  'one that fails once': [first('/trpc/failingOnce.query'), first('/trpc/failingOnce.query')],
  'in a batch': [
    first('/trpc/eager,loaded.query?batch=1&input={"0":1}'),
    later('/trpc/eager,loaded.query?batch=1&input={"1":1}'),
    first('/trpc/other.query,loaded.query?batch=1&input={}'),
    later('/trpc/other.query,loaded.query?batch=1&input={}'),
  ],
  'twice in a batch': [
    first('/trpc/loaded.query,loaded.query?batch=1&input={"0":1}'),
    later('/trpc/loaded.query,loaded.query?batch=1'),
  ],
  'in a batch with one that fails': [first('/trpc/eager,failing.query?batch=1'), later('/trpc/eager,eager?batch=1')],
  'a mutation': [
    {
      method: 'POST',
      url: '/trpc/loaded.mutation',
      headers: { 'content-type': 'application/json' },
      body: '1',
      on: 'procedure',
    },
    {
      method: 'POST',
      url: '/trpc/loaded.mutation',
      headers: { 'content-type': 'application/json' },
      body: '1',
      on: 'compiled',
    },
    { url: '/trpc/loaded.mutation', on: 'method' },
  ],
}

describe.each([
  ...Object.entries(SEQUENCES),
  ...Object.entries(SEQUENCES).map(([name, requests]) => [`${name}, streamed`, streamed(requests)] as const),
])('lazy routers: %s', (_, requests) => {
  const comparison = compare(lazyMount)
  it('give the same responses', async () => {
    // oxlint-disable-next-line no-await-in-loop -- their order is what is tested
    for (const request of requests) await comparison.request(request)
  })
})

import { TRPCError } from '@trpc/server'
import { describe, it } from 'vitest'
import { routing } from '../../helpers/peer-versions.ts'
import {
  compare,
  type ComparedRequest,
  type Mount,
  type Path,
  type Surroundings,
  titled,
} from '../../helpers/differential/compare.ts'
import type { Recorder } from '../../helpers/differential/recorder.ts'
import { JSON_TYPE, andStreamed, echoMount } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC } from '../../helpers/differential/router.ts'

function second(recorder: Recorder): Mount {
  const t = observedTRPC(recorder)
  const router = t.mergeRouters(
    t.router({ query: t.procedure.query(() => 'of the second') }),
    t.router({
      only: t.procedure.query(() => 'here'),
      failing: t.procedure.query(() => {
        throw new TRPCError({ code: 'NOT_IMPLEMENTED' })
      }),
    }),
  )
  return { router, options: observed(recorder) }
}

const MOUNTS: Readonly<
  Record<
    string,
    {
      build: (recorder: Recorder) => Mount | Mount[]
      around?: Surroundings
      urls: readonly (readonly [string, Path])[]
    }
  >
> = {
  'without a prefix': {
    build: (recorder) => ({ ...echoMount(recorder), prefix: undefined }),
    urls: [
      ['/query?input=1', 'compiled'],
      ['/trpc/query', 'nothing'],
      ['/', 'procedure'],
      ['/unknown', 'procedure'],
      ['/query,blind?batch=1', 'compiled'],
    ],
  },
  'with an empty prefix': {
    build: (recorder) => ({ ...echoMount(recorder), prefix: '' }),
    urls: [
      ['/query?input=1', 'compiled'],
      ['/', 'procedure'],
    ],
  },
  'with a slash after the prefix': {
    build: (recorder) => ({ ...echoMount(recorder), prefix: '/trpc/' }),
    urls: [
      ['/trpc/query?input=1', 'compiled'],
      ['/trpc//query', 'nothing'],
    ],
  },
  'with a long prefix': {
    build: (recorder) => ({ ...echoMount(recorder), prefix: '/api/v1/rpc' }),
    urls: [
      ['/api/v1/rpc/query?input=1', 'compiled'],
      ['/api/v1/rpc', 'nothing'],
      ['/api/query', 'nothing'],
    ],
  },
  'with a parameter in the prefix': {
    build: (recorder) => ({ ...echoMount(recorder), prefix: '/:tenant/trpc' }),
    urls: [
      ['/acme/trpc/query?input=1', 'compiled'],
      ['/a%25b/trpc/query', 'compiled'],
      ['/acme/trpc/unknown', 'procedure'],
    ],
  },
  'inside of a context': {
    build: (recorder) => echoMount(recorder),
    around: { inside: '/api', after: (app) => void app.get('/plain', () => 'plain') },
    urls: [
      ['/api/trpc/query?input=1', 'compiled'],
      ['/trpc/query', 'nothing'],
      ['/plain', 'nothing'],
      ['/api/trpc/unknown', 'procedure'],
    ],
  },
  'two routers': {
    build: (recorder) => [echoMount(recorder), { ...second(recorder), prefix: '/second' }],
    urls: [
      ['/trpc/query?input=1', 'compiled'],
      ['/second/query?input=1', 'compiled'],
      ['/second/only', 'compiled'],
      ['/trpc/only', 'procedure'],
      ['/second/failing,only?batch=1', 'compiled'],
    ],
  },
  'one router under the other': {
    build: (recorder) => [echoMount(recorder), { ...second(recorder), prefix: '/trpc/query' }],
    urls: [
      ['/trpc/query', 'compiled'],
      ['/trpc/query/only', 'compiled'],
      ['/trpc/query/query', 'compiled'],
    ],
  },
  'with a rewritten URL': {
    build: (recorder) => echoMount(recorder),
    around: { fastify: { rewriteUrl: ({ url = '/' }) => url.replace('/old', '/trpc').replace('%5F', '_') } },
    urls: [
      ['/old/query?input=1', 'compiled'],
      ['/old/query%5F?input=1', 'procedure'],
      ['/trpc/query', 'compiled'],
    ],
  },
  'behind a proxy': {
    build: (recorder) => echoMount(recorder),
    around: { fastify: { trustProxy: true } },
    urls: [
      ['/trpc/query?input=1', 'compiled'],
      ['/trpc/query,failing?batch=1', 'compiled'],
    ],
  },
  'with a query string parser': {
    build: (recorder) => echoMount(recorder),
    around: { fastify: routing({ querystringParser: () => ({ input: '5', batch: '1' }) }) },
    urls: [
      ['/trpc/query?input=1', 'compiled'],
      ['/trpc/query,blind?batch=1', 'compiled'],
    ],
  },
}

describe.each(Object.entries(MOUNTS))('mounted %s', (_, { build, around = {}, urls }) => {
  const comparison = compare(build, around)
  const requests = urls.flatMap(([url, on]): ComparedRequest[] => {
    const posted: Path = on === 'compiled' ? 'method' : on
    const headers = { 'x-forwarded-host': 'other.example', 'x-forwarded-proto': 'https', 'x-forwarded-for': '10.0.0.1' }
    return [
      { url, on },
      { url, headers, on },
      { method: 'POST', url, headers: JSON_TYPE, body: '{"0":1}', on: posted },
    ]
  })
  it.each(titled(andStreamed(requests)))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

import { describe, it } from 'vitest'
import { compare, type ComparedRequest, type Path, titled } from '../../helpers/differential/compare.ts'
import { JSON_TYPE, andStreamed, echoMount } from '../../helpers/differential/requests.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const
type Method = (typeof METHODS)[number]

/** Which method each kind of procedure takes; `allowMethodOverride` adds POST for queries. */
function pathOf(method: Method, path: string, isOverridden: boolean): Path {
  if (method !== 'GET' && method !== 'POST') return 'method'
  if (path.includes('unknown')) return 'procedure'
  const takesPost = path.includes('utation') || isOverridden
  const takesGet = !path.includes('utation')
  return (method === 'GET' ? takesGet : takesPost) ? 'compiled' : 'method'
}

function requests(isOverridden: boolean): ComparedRequest[] {
  return METHODS.flatMap((method) =>
    [
      'query',
      'blind',
      'mutation',
      'blindMutation',
      'unknown',
      'failing',
      'query,failing',
      'mutation,blindMutation',
      'query,unknown',
    ].flatMap((path): ComparedRequest[] => {
      const isBatch = path.includes(',')
      const url = `/trpc/${path}${isBatch ? '?batch=1&' : '?'}input=${isBatch ? '%7B%220%22:1%7D' : '1'}`
      const on = pathOf(method, path, isOverridden)
      if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return [{ method, url, on }]
      return [
        { method, url, headers: JSON_TYPE, body: isBatch ? '{"0":"body"}' : '"body"', on },
        // Without a body there is no string to read.
        { method, url, on: method === 'POST' ? 'content-type' : 'method' },
      ]
    }),
  )
}

describe.each([
  ['methods', {}],
  ['methods with allowMethodOverride', { allowMethodOverride: true }],
])('%s', (_, options) => {
  const comparison = compare((recorder) => echoMount(recorder, options))
  it.each(titled(andStreamed(requests('allowMethodOverride' in options))))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

const LIMITS: readonly (readonly [
  string,
  { allowBatching?: boolean; batching?: { enabled: boolean }; maxBatchSize?: number },
])[] = [
  ['allowBatching: false', { allowBatching: false }],
  ['batching.enabled: false', { batching: { enabled: false } }],
  ['allowBatching over batching', { allowBatching: true, batching: { enabled: false } }],
  ['maxBatchSize: 2', { maxBatchSize: 2 }],
  ['maxBatchSize: 0', { maxBatchSize: 0 }],
  ['maxBatchSize: 1.5', { maxBatchSize: 1.5 }],
]

describe.each(LIMITS)('batches with %s', (_, options) => {
  const comparison = compare((recorder) => echoMount(recorder, options))
  const isOff = options.allowBatching === undefined ? 'batching' in options : !options.allowBatching
  const sizes = [1, 2, 3, 4]
  const all: ComparedRequest[] = sizes.map((size) => ({
    url: `/trpc/${Array.from({ length: size }, () => 'query').join(',')}?batch=1&input=%7B%220%22:1%7D`,
    on: isOff || size > (options.maxBatchSize ?? Infinity) ? 'batch' : 'compiled',
  }))
  it.each(
    titled([
      ...andStreamed(all),
      { url: '/trpc/query', on: 'compiled' },
      { url: '/trpc/query,query', on: 'procedure' },
    ]),
  )('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

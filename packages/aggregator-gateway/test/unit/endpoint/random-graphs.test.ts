// Random graphs of calls, with lists, conditions, failures and dependencies, beside code written by hand for the same graph.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { CallOptions, Condition, EndpointOptions } from '../../../src/index.ts'
import { gateway, sendJson, upstream } from '../../helpers/servers.ts'

const GRAPHS = 1000
const SEED = 37

interface Node {
  /** Index of the earlier call whose id is in the path. */
  readonly of: number | undefined
  /** Index of the earlier call whose items are the list. */
  readonly each: number | undefined
  /** Concurrency of a list. */
  readonly concurrency: number
  /** The condition: on the request, or on the flag of an earlier call. */
  readonly when: { readonly on: 'request' | number; readonly isThere: boolean } | undefined
  readonly isOptional: boolean
}

const node = (index: number): fc.Arbitrary<Node> => {
  const earlier = index === 0 ? fc.constant(undefined) : fc.option(fc.nat(index - 1), { nil: undefined })
  const on =
    index === 0 ? fc.constant('request' as const) : fc.oneof(fc.constant('request' as const), fc.nat(index - 1))
  return fc.record({
    of: earlier,
    each: earlier,
    concurrency: fc.integer({ min: 1, max: 4 }),
    when: fc.option(fc.record({ on, isThere: fc.boolean() }), { nil: undefined }),
    isOptional: fc.boolean(),
  })
}
const graph = fc
  .integer({ min: 1, max: 6 })
  .chain((size) => fc.tuple(...Array.from({ length: size }, (_, at) => node(at))))

/** A number for a path, the same each time. */
function hashOf(path: string): number {
  let hash = 7
  for (const character of path) hash = (hash * 31 + character.charCodeAt(0)) % 1_000_003
  return hash
}

/** What the upstream responds: a failure for one path in six. */
function respond(path: string): { readonly status: number; readonly body?: object } {
  const hash = hashOf(path)
  if (hash % 6 === 0) return { status: 404 }
  const items = Array.from({ length: hash % 5 }, (_, at) => (hash + at) % 3)
  return { status: 200, body: { id: hash % 100, flag: hash % 2 === 0, items: hash % 11 === 0 ? null : items } }
}

const nameOf = (index: number): string => `call${index}`

function callOf(graphIndex: number, index: number, { of, each, concurrency, when, isOptional }: Node): CallOptions {
  const item = each === undefined ? '' : '/{item}'
  const id = of === undefined ? '' : `/{calls.${nameOf(of)}.id}`
  const flag = when && (when.on === 'request' ? '{query.flag}' : `{calls.${nameOf(when.on)}.flag}`)
  return {
    upstream: 'it',
    path: `/${graphIndex}/${index}${id}${item}`,
    optional: isOptional,
    ...(each === undefined ? {} : { forEach: { items: `{calls.${nameOf(each)}.items}`, concurrency } }),
    ...(when ? { when: `${when.isThere ? '' : '!'}${flag!}` as Condition } : {}),
  }
}

type Result = 'skipped' | 'failed' | { readonly value: unknown; readonly missing: number }

/** The response, as code written by hand makes it. */
async function byHand(graphIndex: number, nodes: readonly Node[], hasFlag: boolean): Promise<object | 'failed'> {
  const calls: Promise<Result>[] = []
  const ask = async (path: string): Promise<{ readonly value?: unknown; readonly failed: boolean }> => {
    const { status, body } = await Promise.resolve(respond(path))
    return status === 200 ? { value: body, failed: false } : { failed: true }
  }
  const memberOf = (result: Result, name: string): unknown =>
    typeof result === 'string' || Array.isArray(result.value)
      ? undefined
      : (result.value as Record<string, unknown> | null)?.[name]
  for (const [index, { of, each, when }] of nodes.entries()) {
    const one = async (): Promise<Result> => {
      const [owner, lister, tested] = await Promise.all([
        of === undefined ? undefined : calls[of],
        each === undefined ? undefined : calls[each],
        typeof when?.on === 'number' ? calls[when.on] : undefined,
      ])
      if (when) {
        const isThere = when.on === 'request' ? hasFlag : memberOf(tested!, 'flag') === true
        if (isThere !== when.isThere) return 'skipped'
      }
      const base = `/${graphIndex}/${index}`
      const noValue = (): Result => (owner === 'skipped' || lister === 'skipped' ? 'skipped' : 'failed')
      const id = of === undefined ? '' : memberOf(owner!, 'id')
      const prefix = of === undefined ? base : `${base}/${String(id)}`
      if (each === undefined) {
        if (id === undefined) return noValue()
        const { value, failed } = await ask(prefix)
        return failed ? 'failed' : { value, missing: 0 }
      }
      const items = memberOf(lister!, 'items')
      if (!Array.isArray(items)) return noValue()
      const all = await Promise.all(
        items.map((item) =>
          id === undefined ? Promise.resolve({ value: null, failed: true }) : ask(`${prefix}/${String(item)}`),
        ),
      )
      const missing = all.filter(({ failed }) => failed).length
      if (missing > 0 && !nodes[index]!.isOptional) return 'failed'
      return { value: all.map(({ value = null }) => value), missing }
    }
    calls.push(one())
  }
  const results = await Promise.all(calls)
  if (results.some((result, index) => result === 'failed' && !nodes[index]!.isOptional)) return 'failed'
  const made = results.filter((result) => result !== 'skipped')
  const isWithout = (result: Result): boolean =>
    result === 'failed' ||
    (typeof result === 'object' && result.missing > 0 && result.missing === (result.value as unknown[]).length)
  if (nodes.every(({ isOptional }) => isOptional) && made.length > 0 && made.every(isWithout)) return 'failed'
  return Object.fromEntries(
    results.map((result, index) => [nameOf(index), typeof result === 'string' ? null : result.value]),
  )
}

it(`responds as code written by hand to ${GRAPHS} random graphs`, async () => {
  const graphs = fc.sample(graph, { numRuns: GRAPHS, seed: SEED })
  let running = 0
  let mostRunning = 0
  const origin = await upstream((request, response) => {
    mostRunning = Math.max(mostRunning, ++running)
    const { status, body } = respond(request.url!)
    // In another order than that of the requests.
    setTimeout(
      () => {
        running--
        if (body) sendJson(response, JSON.stringify(body))
        else response.writeHead(status).end()
      },
      hashOf(request.url!) % 3,
    )
  })
  const app = await gateway({
    upstreams: { it: { origin, maxConnections: 16, maxQueue: 10_000, circuitBreaker: false } },
    endpoints: graphs.map((nodes, graphIndex) => ({
      path: `/${graphIndex}`,
      timeout: 60_000,
      coalesce: graphIndex % 2 === 0,
      calls: Object.fromEntries(nodes.map((one, index) => [nameOf(index), callOf(graphIndex, index, one)])),
    })) as EndpointOptions[],
  })
  const counts = { failed: 0, lists: 0, nulls: 0 }
  for (let start = 0; start < GRAPHS; start += 50) {
    await Promise.all(
      graphs.slice(start, start + 50).map(async (nodes, offset) => {
        const index = start + offset
        const hasFlag = index % 2 === 0
        const { statusCode, body } = await app.inject(`/${index}${hasFlag ? '?flag=1' : ''}`)
        const expected = await byHand(index, nodes, hasFlag)
        expect([index, statusCode === 502 ? 'failed' : JSON.parse(body)]).toEqual([index, expected])
        if (expected === 'failed') counts.failed++
        else {
          counts.lists += Object.values(expected).filter((value) => Array.isArray(value)).length
          counts.nulls += Object.values(expected).filter((value) => value === null).length
        }
      }),
    )
  }
  expect(mostRunning).toBeLessThanOrEqual(16)
  // The graphs have some of everything.
  expect(Math.min(counts.failed, counts.lists, counts.nulls)).toBeGreaterThan(100)
  expect(counts.failed).toBeLessThan(GRAPHS * 0.8)
})

import superjson, { deserialize as fromSuperjson, serialize as toSuperjson } from 'superjson'
import { describe, it } from 'vitest'
import { compare, type ComparedRequest, titled } from '../../helpers/differential/compare.ts'
import type { Recorder } from '../../helpers/differential/recorder.ts'
import { BREAKS_STREAMS_OFF } from '../../helpers/differential/known-differences.ts'
import { andStreamed, JSON_TYPE, ON_EMPTY_BODY } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC, observedWithMeta } from '../../helpers/differential/router.ts'
import type { Deserialize } from '../../helpers/differential/stream-content.ts'

interface Transformer {
  serialize: (this: unknown, value: unknown) => unknown
  deserialize: (this: unknown, value: unknown) => unknown
}

const same: Transformer = { serialize: (value) => value, deserialize: (value) => value }
const thrown = (cause: unknown) => (): never => {
  throw cause
}

/** Makes the transformer for one app; `see` notes what it is called with. */
const TRANSFORMERS: Readonly<Record<string, () => Transformer | { input: Transformer; output: Transformer }>> = {
  superjson: () => superjson as unknown as Transformer,
  combined: () => ({
    input: { ...same, deserialize: (value) => ({ deserialized: value }) },
    output: { ...same, serialize: (value) => ({ serialized: value }) },
  }),
  asyncDeserialize: () => ({ ...same, deserialize: async (value) => ({ later: value }) }),
  asyncSerialize: () => ({ ...same, serialize: async (value) => value }),
  throwingDeserialize: () => ({ ...same, deserialize: thrown(new Error('deserialize')) }),
  throwingDeserializeString: () => ({ ...same, deserialize: thrown('deserialize') }),
  throwingSerialize: () => ({ ...same, serialize: thrown(new Error('serialize')) }),
  throwingSerializeOfResults: () => ({
    ...same,
    serialize: (value) =>
      typeof value === 'object' && value && 'message' in value ? value : thrown(new Error('result'))(),
  }),
  throwingSerializeOfErrors: () => ({
    ...same,
    serialize: (value) =>
      typeof value === 'object' && value && 'message' in value ? thrown(new Error('error'))() : value,
  }),
  undefinedSerialize: () => ({ ...same, serialize: () => undefined }),
  undefinedDeserialize: () => ({ ...same, deserialize: () => undefined }),
  nullSerialize: () => ({ ...same, serialize: () => null }),
  text: () => ({
    serialize: (value) => JSON.stringify(value),
    deserialize: (value) => JSON.parse(String(value)) as unknown,
  }),
  stateful: () => {
    let count = 0
    return { serialize: (value) => [++count, value], deserialize: (value) => [++count, value] }
  },
  usingThis: () =>
    ({
      prefix: 'this',
      serialize(this: { prefix: string }, value: unknown) {
        return [this.prefix, value]
      },
      deserialize(this: { prefix: string }, value: unknown) {
        return [this.prefix, value]
      },
    }) as Transformer,
}

function observing(recorder: Recorder, { serialize, deserialize, ...rest }: Transformer): Transformer {
  return {
    ...rest,
    serialize(value) {
      recorder.see('serialize', value)
      return serialize.call(this, value)
    },
    deserialize(value) {
      recorder.see('deserialize', value)
      return deserialize.call(this, value)
    },
  }
}

const super1 = JSON.stringify(toSuperjson({ date: new Date(0), set: new Set([1]), none: undefined }))
const input = encodeURIComponent(super1)
const REQUESTS: readonly ComparedRequest[] = [
  { name: 'a query', url: `/trpc/query?input=${input}`, on: 'compiled' },
  { name: 'a query without input', url: '/trpc/query', on: 'compiled' },
  { name: 'a query that reads no input', url: `/trpc/rich?input=${input}`, on: 'compiled' },
  { name: 'a plain input', url: '/trpc/query?input="text"', on: 'compiled' },
  { name: 'a null', url: '/trpc/query?input=null', on: 'compiled' },
  { name: 'a JSON text', url: `/trpc/query?input=${encodeURIComponent('"{\\"a\\":1}"')}`, on: 'compiled' },
  { name: 'a mutation', method: 'POST', url: '/trpc/mutation', headers: JSON_TYPE, body: super1, on: 'compiled' },
  {
    name: 'a mutation of undefined',
    method: 'POST',
    url: '/trpc/mutation',
    headers: JSON_TYPE,
    body: JSON.stringify(toSuperjson(undefined)),
    on: 'compiled',
  },
  {
    name: 'a mutation without a body',
    method: 'POST',
    url: '/trpc/mutation',
    headers: JSON_TYPE,
    body: '',
    on: ON_EMPTY_BODY,
  },
  { name: 'an error', url: `/trpc/failing?input=${input}`, on: 'compiled' },
  {
    name: 'a batch',
    url: `/trpc/query,failing,rich?batch=1&input=${encodeURIComponent(`{"0":${super1},"1":${super1}}`)}`,
    on: 'compiled',
  },
  {
    name: 'a batch of results',
    url: `/trpc/query,rich?batch=1&input=${encodeURIComponent(`{"0":${super1},"1":null}`)}`,
    on: 'compiled',
  },
  { name: 'a batch of inputs that are no object', url: '/trpc/query,query?batch=1&input=[1]', on: 'compiled' },
  { name: 'no procedure', url: '/trpc/unknown', on: 'procedure' },
]

/** What a client makes of lines that were serialized. */
const DESERIALIZERS: Readonly<Record<string, Deserialize>> = {
  superjson: (line) => fromSuperjson(line as never),
  combined: (line) => (line as { serialized: unknown }).serialized,
  text: (line) => JSON.parse(line as string) as unknown,
  usingThis: (line) => (line as unknown[])[1],
}

/** Those that leave nothing of a line that could be read, or count the lines. */
const NOT_STREAMED = [
  ...BREAKS_STREAMS_OFF.transformers,
  'asyncSerialize',
  'undefinedSerialize',
  'nullSerialize',
  'stateful',
]

describe.each(Object.entries(TRANSFORMERS))('transformer: %s', (name, make) => {
  const deserialize = DESERIALIZERS[name]
  const surroundings = deserialize ? { deserialize } : {}
  const comparison = compare((recorder) => {
    const made = make()
    const transformer =
      'input' in made
        ? { input: observing(recorder, made.input), output: observing(recorder, made.output) }
        : observing(recorder, made)
    const t = observedTRPC(recorder, { transformer: transformer as never })
    const any = t.procedure.input((value) => value)
    const echo = (call: { input: unknown }): unknown => {
      recorder.seeCall('echo', call)
      return call.input
    }
    const router = t.router({
      query: any.query(echo),
      mutation: any.use((call) => call.next()).mutation(echo),
      rich: t.procedure.query(() => ({
        date: new Date(0),
        map: new Map([[1, 1n]]),
        error: new Error('sent'),
        none: undefined,
      })),
      failing: any.query(() => {
        throw new Error('failed')
      }),
    })
    return { router, options: name === 'superjson' ? observed(recorder) : observedWithMeta(recorder) }
  }, surroundings)
  it.each(titled(NOT_STREAMED.includes(name) ? REQUESTS : andStreamed(REQUESTS)))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

// Results written by a serializer that was made for their schema: the same JSON, or what the schema says.

import { initTRPC } from '@trpc/server'
import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import { trpcPlugin, type TrpcPluginOptions } from 'trpc-fastify'
import * as valibot from 'valibot'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { FAST_PATHS } from '../../helpers/fast-paths.ts'
import { batchOf } from '../../helpers/ruled-app.ts'
import { routing } from '../../helpers/peer-versions.ts'

const t = initTRPC.create({ isDev: false })

const SAMPLES: Readonly<Record<string, readonly [schema: z.ZodType, ...samples: unknown[]]>> = {
  text: [z.string(), '', 'text', 'quote " backslash \\ line \n unicode ☃ half \uD83D', '\u2028'],
  number: [z.number(), 0, -0, 1.5, -1e21, Number.MAX_SAFE_INTEGER, 5e-324],
  integer: [z.int(), 0, 42, -7],
  boolean: [z.boolean(), true, false],
  nothing: [z.null(), null],
  optional: [z.object({ a: z.string().optional(), b: z.string().nullable() }), { a: undefined, b: null }, { b: 'b' }],
  list: [z.array(z.object({ id: z.number() })), [], [{ id: 1 }, { id: 2 }]],
  nested: [z.object({ a: z.object({ b: z.object({ c: z.string() }) }) }), { a: { b: { c: 'deep' } } }],
  record: [z.record(z.string(), z.number()), {}, { a: 1, 'b"c': 2 }],
  tuple: [z.tuple([z.string(), z.number()]), ['a', 1]],
  union: [z.union([z.string(), z.object({ a: z.number() }), z.null()]), 'text', { a: 1 }, null],
  kinds: [
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('text'), text: z.string() }),
      z.object({ kind: z.literal('count'), count: z.number() }),
    ]),
    { kind: 'text', text: 'a' },
    { kind: 'count', count: 1 },
  ],
  choice: [z.enum(['one', 'two']), 'one'],
  anything: [z.unknown(), { a: [1, 'b', null, { c: true }] }, 'text', null],
  stripped: [z.object({ shown: z.string() }), { shown: 'yes', secret: 'no' }],
  loose: [z.looseObject({ shown: z.string() }), { shown: 'yes', more: ['too'] }],
  date: [z.iso.datetime(), '2026-11-20T00:00:00Z'],
}

/** A procedure for each sample, at `<name><index>`. */
const router = t.router({
  ...Object.fromEntries(
    Object.entries(SAMPLES).flatMap(([name, [schema, ...samples]]) =>
      samples.map((sample, index) => [`${name}${index}`, t.procedure.output(schema).query(() => sample)]),
    ),
  ),
  plain: t.procedure.query(() => ({ plain: true })),
  withDate: t.procedure.output(z.object({ at: z.date() })).query(() => ({ at: new Date(0) })),
  byValibot: t.procedure.output(valibot.object({ a: valibot.string() })).query(() => ({ a: 'a' })),
  absent: t.procedure.output(z.string().optional()).query(() => undefined),
  wrong: t.procedure.output(z.object({ a: z.string() })).query(() => ({ a: 5 }) as never),
  events: t.procedure.subscription(async function* () {
    yield { plain: true }
  }),
})
type Options = Omit<TrpcPluginOptions<typeof router>, 'trpcOptions'>

async function serve(options: Options, trpcOptions: object = {}): Promise<FastifyInstance> {
  const app = Fastify(routing({ maxParamLength: 5000 }))
  onTestFinished(() => app.close())
  await app.register(trpcPlugin<typeof router>, {
    prefix: '/trpc',
    trpcOptions: { router, ...trpcOptions },
    ...options,
  })
  return app
}

const PATHS = Object.keys(router._def.procedures)
const STREAM = { 'trpc-accept': 'application/jsonl' }

describe.each(FAST_PATHS)('with fastPath %s', (fastPath) => {
  it("'output' sends the same bytes for all values of a schema", async () => {
    const [plain, serialized] = [
      await serve({ fastPath }),
      await serve({ fastPath, procedures: { '*': { serializer: 'output' } } }),
    ]
    const requests: InjectOptions[] = [
      ...PATHS.map((path) => ({ url: `/trpc/${path}` })),
      { url: batchOf(...PATHS.filter((path) => path !== 'events')) },
      { url: batchOf('text0', 'missing', 'wrong', 'absent') },
      { url: batchOf('text0', 'missing', 'wrong', 'absent'), headers: STREAM },
    ]
    expect(requests.length).toBeGreaterThan(40)
    for (const request of requests) {
      const [expected, answer] = [await plain.inject(request), await serialized.inject(request)]
      expect([request.url, answer.statusCode, answer.body]).toEqual([request.url, expected.statusCode, expected.body])
    }
  })

  it('sends only properties of a JSON schema, for each kind of request', async () => {
    const app = await serve({
      fastPath,
      procedures: {
        stripped0: { serializer: { type: 'object', properties: { shown: { type: 'string' } } } },
        loose0: { serializer: { type: 'object', properties: { more: { type: 'array', items: { type: 'string' } } } } },
      },
    })
    expect((await app.inject('/trpc/loose0')).json()).toEqual({ result: { data: { more: ['too'] } } })
    expect((await app.inject('/trpc/%256Coose0')).json()).toEqual({ result: { data: { more: ['too'] } } })
    expect((await app.inject(batchOf('loose0', 'plain'))).json()).toEqual([
      { result: { data: { more: ['too'] } } },
      { result: { data: { plain: true } } },
    ])
    const streamed = await app.inject({ url: batchOf('loose0'), headers: STREAM })
    expect(streamed.body).toContain('{"more":["too"]}')
    expect(streamed.body).not.toContain('shown')
  })

  it('sends the JSON of a function, or its error', async () => {
    const told: unknown[] = []
    const app = await serve(
      {
        fastPath,
        procedures: {
          plain: { serializer: () => '{"by":"function"}' },
          text0: {
            serializer() {
              throw new Error('Cannot write it')
            },
          },
        },
      },
      { onError: ({ error }: { error: Error }) => told.push(error.message) },
    )
    expect((await app.inject('/trpc/plain')).body).toBe('{"result":{"data":{"by":"function"}}}')
    const failed = await app.inject('/trpc/text0')
    expect(failed.statusCode).toBe(500)
    expect(failed.json()).toMatchObject({ error: { message: 'Cannot write it' } })
    expect(told).toEqual(['Cannot write it'])
  })

  it('passes data to responseMeta, not JSON', async () => {
    const seen: unknown[] = []
    const app = await serve(
      { fastPath, procedures: { list1: { serializer: 'output' } } },
      {
        responseMeta({ data }: { data: unknown }) {
          seen.push(data)
          return { headers: { 'x-meta': 'yes' } }
        },
      },
    )
    const answer = await app.inject('/trpc/list1')
    expect(answer.headers['x-meta']).toBe('yes')
    expect(seen).toEqual([[{ result: { data: [{ id: 1 }, { id: 2 }] } }]])
  })
})

it.each(['plain', 'withDate', 'byValibot'])(
  "rejects 'output' for %s, whose output has no JSON schema",
  async (path) => {
    const served = serve({ procedures: { [path]: { serializer: 'output' } } })
    await expect(served).rejects.toThrow(
      `Invalid option "procedures.${path}.serializer": expected a procedure whose output schema has a JSON schema`,
    )
  },
)

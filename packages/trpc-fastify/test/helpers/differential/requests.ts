// A router with one procedure of each kind, for tests whose subject is the request.

import { TRPCError } from '@trpc/server'
import { HAS } from '../peer-versions.ts'
import type { ComparedRequest, Mount, Path } from './compare.ts'
import type { Recorder } from './recorder.ts'
import { observedTRPC, observedWithMeta } from './router.ts'

export const JSON_TYPE = { 'content-type': 'application/json' }

/** Which path JSON without a character takes: what an older tRPC says of it is its own. */
export const ON_EMPTY_BODY: Path = HAS.emptyBodies ? 'compiled' : 'body'

/** What `httpBatchStreamLink` sends. */
export const STREAM = { 'trpc-accept': 'application/jsonl' }

/** The batches among requests, streamed. */
export function streamed(requests: readonly ComparedRequest[]): ComparedRequest[] {
  return requests
    .filter(({ url }) => new URL(url, 'http://localhost').searchParams.get('batch') === '1')
    .map(({ name, ...request }) => ({
      ...request,
      headers: { ...request.headers, ...STREAM },
      ...(name === undefined ? {} : { name: `${name}, streamed` }),
    }))
}

/** Requests, and their batches streamed too. */
export function andStreamed(requests: readonly ComparedRequest[]): ComparedRequest[] {
  return [...requests, ...streamed(requests)]
}

type Config = Parameters<typeof observedTRPC>[1]

/** Serves procedures that note what they get and give back their input. */
export function echoMount(recorder: Recorder, options: Mount['options'] = {}, config?: Config): Mount {
  const t = observedTRPC(recorder, config)
  const noted = t.procedure
    .input((value) => value)
    .use(async (call) => {
      recorder.see('raw', await call.getRawInput(), call.batchIndex)
      return call.next()
    })
  const echo = (call: { input: unknown }): unknown => {
    recorder.seeCall('echo', call)
    return { input: call.input }
  }
  const router = t.router({
    query: noted.query(echo),
    mutation: noted.mutation(echo),
    plain: t.procedure.input((value) => value).query(echo),
    blind: t.procedure.query(() => 'blind'),
    blindMutation: t.procedure.mutation(() => 'blind'),
    later: t.procedure.query(async () => {
      await new Promise(setImmediate)
      return { later: Promise.resolve('later still') }
    }),
    failing: noted.query(() => {
      throw new TRPCError({ code: 'FORBIDDEN', message: 'no' })
    }),
    subscription: t.procedure.subscription(async function* events() {
      yield 1
    }),
    'with space': t.procedure.query(() => 'space'),
    ünïcödé: t.procedure.query(() => 'unicode'),
    'a+b': t.procedure.query(() => 'plus'),
    'a%b': t.procedure.query(() => 'percent'),
    Upper: t.procedure.query(() => 'Upper'),
    upper: t.procedure.query(() => 'upper'),
    nested: t.router({
      query: noted.query(echo),
      deeper: { query: noted.query(echo), mutation: noted.mutation(echo) },
    }),
  })
  return { router, options: { ...observedWithMeta(recorder), ...options } }
}

// The defaults of responses, which differ between versions of tRPC. They are read from responses of the installed version.

import { initTRPC } from '@trpc/server'
import { resolveResponse } from '@trpc/server/http'
import type { RouterConfig } from '../procedure/trpc-internals.ts'

/** Headers in lower case and sorted, by kind of response. */
export interface TrpcDefaults {
  readonly headers: Readonly<Record<string, string>>
  /** Headers of responses to `httpBatchStreamLink`. */
  readonly streamHeaders: Readonly<Record<string, string>>
  /** Headers of responses to `httpSubscriptionLink`. */
  readonly eventHeaders: Readonly<Record<string, string>>
  /** Separator of the segments of a path in URLs. Older versions support only the dot. */
  readonly pathSeparator: string
  /** Whether an empty body means no input. Older versions call it malformed JSON. */
  readonly takesEmptyBody: boolean
}

/** Sends some requests to a router with the same options, and returns the defaults of its responses. */
export async function probeTrpcDefaults({ jsonl, pathSeparator = '.' }: Partial<RouterConfig>): Promise<TrpcDefaults> {
  const t = initTRPC.create({ pathSeparator, ...(jsonl ? { jsonl } : {}) })
  const probe = t.router({
    query: t.procedure.query(() => 'ok'),
    nested: { query: t.procedure.query(() => 'ok') },
    mutation: t.procedure.input((value) => value).mutation(() => 'ok'),
    subscription: t.procedure.subscription(async function* () {
      yield 'event'
    }),
  })
  const ask = async (
    path: string,
    headers: Record<string, string> = {},
    method = 'GET',
  ): Promise<{ isOk: boolean; headers: Record<string, string> }> => {
    const req = new Request(`http://localhost/${path}`, { headers, method })
    const response = await resolveResponse({
      router: probe,
      req,
      path: path.split('?')[0]!,
      createContext: () => Promise.resolve({}),
      error: null,
    })
    await response.text()
    return { isOk: response.ok, headers: Object.fromEntries(response.headers) }
  }
  return {
    headers: (await ask('query')).headers,
    streamHeaders: (await ask('query?batch=1', { 'trpc-accept': 'application/jsonl' })).headers,
    eventHeaders: (await ask('subscription')).headers,
    pathSeparator: (await ask(`nested${pathSeparator}query`)).isOk ? pathSeparator : '.',
    takesEmptyBody: (await ask('mutation', { 'content-type': 'application/json' }, 'POST')).isOk,
  }
}

/** Whether the fast path supports the `sse` options of a router. */
export function servesSubscriptions({ sse = {} }: RouterConfig): boolean {
  const { enabled = true, emitAndEndImmediately, ping, client } = sse
  const inactivity = client?.reconnectAfterInactivityMs
  const isContradictory = ping?.enabled && inactivity && (ping.intervalMs ?? 1000) > inactivity
  return enabled && !emitAndEndImmediately && !isContradictory
}

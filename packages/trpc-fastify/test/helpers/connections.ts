// tRPC's own client, connected to a server by one of its links, and what its callers see.

import {
  createTRPCClient,
  createWSClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  splitLink,
  TRPCClientError,
  type TRPCLink,
  wsLink,
} from '@trpc/client'
import { WebSocket } from 'ws'
import type { Server } from './both-servers.ts'
import type { AppRouter } from './router.ts'

/** The requests of a client, without what is allowed to differ. */
interface Exchange {
  readonly method: string
  readonly status: number
  readonly type: string | null
}

export interface Connection {
  readonly client: ReturnType<typeof createTRPCClient<AppRouter>>
  readonly exchanges: Exchange[]
  close(): Promise<void>
}

export type Fetch = (input: string | URL | Request, init?: object) => Promise<Response>

/** Connects by a link that sends HTTP requests. */
export const overHttp =
  (
    makeLink: (options: { url: string; fetch: Fetch; headers: { 'x-user'?: string } }) => TRPCLink<AppRouter>,
    fetch: Fetch = globalThis.fetch,
  ) =>
  ({ url }: Server, user?: string): Connection => {
    const exchanges: Exchange[] = []
    const noted: Fetch = async (input, init) => {
      const response = await fetch(input, init)
      const { status, headers } = response
      const { method = 'GET' } = (init ?? {}) as RequestInit
      exchanges.push({ method, status, type: headers.get('content-type') })
      return response
    }
    const link = makeLink({ url, fetch: noted, headers: user === undefined ? {} : { 'x-user': user } })
    return { client: createTRPCClient<AppRouter>({ links: [link] }), exchanges, close: () => Promise.resolve() }
  }

export const overWebSocket = ({ webSocketUrl }: Server, connectionParams?: Record<string, string>): Connection => {
  const socket = createWSClient({
    url: webSocketUrl,
    WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
    retryDelayMs: () => 0,
    connectionParams: connectionParams ?? null,
  })
  const client = createTRPCClient<AppRouter>({ links: [wsLink({ client: socket })] })
  return { client, exchanges: [], close: () => socket.close() }
}

const POST = { methodOverride: 'POST' } as const
export const HTTP_LINKS: Record<string, (server: Server, user?: string) => Connection> = {
  httpLink: overHttp((options) => httpLink(options)),
  'httpLink, always POST': overHttp((options) => httpLink({ ...options, ...POST })),
  httpBatchLink: overHttp((options) => httpBatchLink(options)),
  'httpBatchLink, always POST': overHttp((options) => httpBatchLink({ ...options, ...POST })),
  'httpBatchLink, at most 2': overHttp((options) => httpBatchLink({ ...options, maxItems: 2 })),
  httpBatchStreamLink: overHttp((options) => httpBatchStreamLink(options)),
  'httpBatchStreamLink, always POST': overHttp((options) => httpBatchStreamLink({ ...options, ...POST })),
  'httpBatchStreamLink by accept': overHttp((options) => httpBatchStreamLink({ ...options, streamHeader: 'accept' })),
  'splitLink of httpLink and httpBatchLink': overHttp((options) =>
    splitLink({
      condition: ({ path }) => path === 'greet',
      true: httpLink(options),
      false: httpBatchLink(options),
    }),
  ),
}

/** What a call gave its caller. */
export async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    return { data: await call }
  } catch (error) {
    if (!(error instanceof TRPCClientError)) throw error
    return { failed: error.message, shape: error.shape as unknown }
  }
}

export async function outcomes(calls: Record<string, Promise<unknown>>): Promise<Record<string, unknown>> {
  const all = Object.entries(calls).map(async ([name, call]) => [name, await outcome(call)] as const)
  return Object.fromEntries(await Promise.all(all))
}

/** The outcome of a call that fails. */
export const failure = (message: string, code: number, data: Record<string, unknown>): unknown => ({
  failed: message,
  shape: { message, code, data: { issues: [], user: null, ...data } },
})

/** What `onError` told; calls that fail in the same tick have no order of their own. */
export const errorsTold = ({ journal }: Server): string[] =>
  journal.entries
    .map(String)
    .filter((entry) => entry.startsWith('onError'))
    .toSorted()

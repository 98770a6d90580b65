// Serves the same router by the official plugin and by this package's, on the fast path and off it. Sends each
// the same request, and compares everything that a client and the code of the user see.

import { type AnyTRPCRouter } from '@trpc/server'
import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import Fastify, { type FastifyInstance, type FastifyServerOptions, type InjectOptions } from 'fastify'
import { afterAll, beforeAll, expect } from 'vitest'
import { type FallbackReason, type TrpcHandlerOptions, trpcPlugin } from '../../../src/index.ts'
import { uncompiled } from '../fast-paths.ts'
import { BROKEN_OFF, type Exchange } from './exchange.ts'
import {
  withoutConnection,
  withoutFraming,
  withoutOrderBetweenCalls,
  withoutOrderOfAStream,
  withoutScheme,
} from './known-differences.ts'
import { disconnect, http2Request, isSameOverHttp2, serverOptions, TRANSPORT } from './over-http2.ts'
import { Recorder, type Sighting } from './recorder.ts'
import { bodyWithoutFrames } from './stack-frames.ts'
import { type Deserialize, streamContent } from './stream-content.ts'

/** A router and how it is served. */
export interface Mount {
  readonly router: AnyTRPCRouter
  readonly options?: Omit<Partial<TrpcHandlerOptions<AnyTRPCRouter>>, 'router'>
  /** Where it is served; nothing for the root. @default '/trpc' */
  readonly prefix?: string | undefined
}

/** The app around the routers. */
export interface Surroundings {
  readonly fastify?: FastifyServerOptions
  readonly before?: (app: FastifyInstance, recorder: Recorder) => void | Promise<void>
  readonly after?: (app: FastifyInstance, recorder: Recorder) => void | Promise<void>
  /** Registers the plugin in a context with this prefix. */
  readonly inside?: string
  /** Answers carry stack traces. */
  readonly isDev?: boolean
  /** What a client makes of a line of a streamed batch, as its transformer tells it. */
  readonly deserialize?: Deserialize
}

/**
 * The path that this package must take. `compiled` becomes `uncompiled` with that option. A reason stands for tRPC's own
 * adapter, and `nothing` if Fastify never calls the plugin.
 */
export type Path = 'compiled' | 'uncompiled' | 'nothing' | FallbackReason

/** A request, and which path it must take. */
export interface ComparedRequest {
  readonly on: Path
  readonly method?: NonNullable<InjectOptions['method']>
  readonly url: string
  readonly headers?: Record<string, string | string[]>
  readonly body?: string | Buffer
  /** Says more than the request itself, which may be long. */
  readonly name?: string
}

/** Options beyond those of the official plugin, such that no client can tell. */
const BEYOND = {
  procedures: { '*': { timeout: 60_000, onRequest: async () => {}, onSend: async () => {} } },
  batchConcurrency: 1000,
  observers: [{ callEnded: () => {} }],
}

/** The official plugin, and this package's with these options. */
const KINDS = {
  official: undefined,
  compiled: { fastPath: true },
  uncompiled: { fastPath: uncompiled },
  'compiled, and beyond': { fastPath: true, ...BEYOND },
  'official, and beyond': { fastPath: false, ...BEYOND },
} as const
type Kind = keyof typeof KINDS

interface Server {
  readonly kind: Kind
  readonly app: FastifyInstance
  /** Where the plugin is registered, and decorates. */
  readonly context: FastifyInstance
  /** Of its routers. */
  readonly prefixes: readonly string[]
  readonly recorder: Recorder
}

/** An exchange, and what the user's code saw of it. */
interface Observed {
  readonly exchange: Exchange
  /** In their order, as far as it can be relied on. */
  readonly sightings: unknown
}

/** Sends one request to one of the servers. */
type Send = (app: FastifyInstance) => Promise<Exchange>

/** The servers of one router; they start before the tests of the `describe` around it and close after them. */
export interface Comparison {
  /** Compares the answers to a request, and gives the official one. */
  request(request: ComparedRequest): Promise<Exchange>
  /** The same for a request that `inject` cannot send. */
  exchange(send: Send, on?: Path): Promise<Exchange>
  /** The answers of all, without a comparison: for a known difference. */
  answers(request: ComparedRequest): Promise<Record<Kind, Exchange>>
}

export function compare(build: (recorder: Recorder) => Mount | Mount[], surroundings: Surroundings = {}): Comparison {
  let servers: Server[]
  beforeAll(async () => {
    servers = await Promise.all((Object.keys(KINDS) as Kind[]).map((kind) => serve(kind, build, surroundings)))
  })
  afterAll(async () => {
    for (const { app } of servers) disconnect(app)
    await Promise.all(servers.map(({ app }) => app.close()))
  })

  const exchange = async (send: Send, on?: Path): Promise<Exchange> => {
    const [official, ...ours] = servers as [Server, ...Server[]]
    const expected = await observe(official, send, surroundings)
    for (const server of ours) {
      const before = countsOf(server)
      // oxlint-disable-next-line no-await-in-loop -- one at a time: the recorder tells requests apart by that
      const observed = await observe(server, send, surroundings)
      // What is asked before a call is made makes it later than other things that the user's code sees.
      if (server.kind.endsWith('beyond')) expectAlike(server, observed.exchange, expected.exchange)
      else expectAlike(server, observed, expected)
      if (on) expect(added(before, countsOf(server)), `path of ${server.kind}`).toEqual(countOf(on, server))
    }
    return expected.exchange
  }
  return {
    exchange,
    request: (request) => exchange((app) => ask(app, request), request.on),
    async answers(request) {
      const answers = servers.map(async (server) => {
        const { exchange: answered } = await observe(server, (app) => ask(app, request), surroundings)
        return [server.kind, answered] as const
      })
      return Object.fromEntries(await Promise.all(answers)) as Record<Kind, Exchange>
    },
  }
}

function expectAlike({ kind }: Server, observed: unknown, expected: unknown): void {
  // Texts are compared in a fraction of the time, and are mostly equal.
  if (JSON.stringify(observed) !== JSON.stringify(expected)) expect(observed, `path of ${kind}`).toEqual(expected)
}

/** Title of a test for a request, for `it.each`. */
export function titled(requests: readonly ComparedRequest[]): [title: string, request: ComparedRequest][] {
  const asked = TRANSPORT === 'inject' ? requests : requests.filter(isSameOverHttp2)
  return asked.map((request) => {
    const { name, method = 'GET', url, headers, body } = request
    const parts = [method, url, headers && JSON.stringify(headers), body && JSON.stringify(String(body))]
    return [name ?? parts.filter(Boolean).join(' ').slice(0, 120), request]
  })
}

async function serve(
  kind: Kind,
  build: (recorder: Recorder) => Mount | Mount[],
  { fastify, before, after, inside }: Surroundings,
): Promise<Server> {
  // A copy: older versions write into their options.
  const app = Fastify({ ...fastify, ...(kind === 'official' ? {} : serverOptions(TRANSPORT)) })
  const recorder = new Recorder()
  await before?.(app, recorder)
  const built = build(recorder)
  const mounts = Array.isArray(built) ? built : [built]
  let context: FastifyInstance = app
  const prefixes: string[] = []
  const register = async (instance: FastifyInstance): Promise<void> => {
    context = instance
    for (const mount of mounts) {
      const { router, options } = mount
      const prefix = 'prefix' in mount ? mount.prefix : '/trpc'
      prefixes.push(prefixIn(instance, prefix))
      const registration = { ...(prefix === undefined ? {} : { prefix }), trpcOptions: { router, ...options } }
      if (kind === 'official') instance.register(fastifyTRPCPlugin, registration)
      else instance.register(trpcPlugin, { ...registration, ...KINDS[kind] })
    }
  }
  if (inside === undefined) await register(app)
  else app.register(register, { prefix: inside })
  await after?.(app, recorder)
  await app.ready()
  return { kind, app, context, prefixes, recorder }
}

async function observe({ app, recorder }: Server, send: Send, { isDev, deserialize }: Surroundings): Promise<Observed> {
  recorder.take()
  const { body: sent, headers, status } = await send(app)
  const text = isDev ? bodyWithoutFrames(sent) : sent
  const isStream = text.endsWith('\n') && !text.startsWith('event: ')
  const body = isStream ? await streamContent(text, deserialize) : text
  const exchange = { status, headers: withoutConnection(withoutFraming(headers), TRANSPORT), body }
  return { exchange, sightings: withoutScheme(arranged(recorder.take(), isStream), TRANSPORT) }
}

function arranged(sightings: Sighting[], isStream: boolean): unknown {
  if (isStream) return withoutOrderOfAStream(sightings)
  return sightings.some(({ call }) => call) ? withoutOrderBetweenCalls(sightings) : sightings
}

/** Over HTTP/1.1 without a connection, or over HTTP/2 where the project says so and the server has it. */
function ask(app: FastifyInstance, request: ComparedRequest): Promise<Exchange> {
  const { method = 'GET', url, headers, body } = request
  const isHttp2 = TRANSPORT !== 'inject' && 'http2' in app.initialConfig && app.initialConfig.http2
  return isHttp2 ? http2Request(app, method, url, headers, body) : inject(app, request)
}

async function inject(
  app: FastifyInstance,
  { method = 'GET', url, headers, body }: ComparedRequest,
): Promise<Exchange> {
  try {
    const {
      statusCode,
      headers: got,
      rawPayload,
    } = await app.inject({
      method,
      url,
      ...(headers ? { headers } : {}),
      ...(body === undefined ? {} : { body }),
    })
    return { status: statusCode, headers: got, body: rawPayload.toString('latin1') }
  } catch (error) {
    // What an answer that has begun can tell of an error.
    if ((error as { code?: unknown }).code === 'LIGHT_ECONNRESET') return BROKEN_OFF
    throw error
  }
}

/** The whole prefix of a router, as Fastify builds it. */
function prefixIn({ prefix: outer }: FastifyInstance, prefix = ''): string {
  return prefix === '' || prefix.startsWith('/') ? outer + prefix : `${outer}/${prefix}`
}

interface Counts {
  compiled: number
  uncompiled: number
  [reason: string]: number
}

function countsOf({ context: app, prefixes }: Server): Counts {
  const counts: Counts = { compiled: 0, uncompiled: 0 }
  for (const prefix of prefixes) {
    const stats = app.trpcStats(prefix)!
    counts.compiled += stats.compiled
    counts.uncompiled += stats.uncompiled
    for (const [reason, count] of Object.entries(stats.fallback)) counts[reason] = (counts[reason] ?? 0) + count
  }
  return counts
}

function added(before: Counts, after: Counts): Record<string, number> {
  const differences = Object.entries(after).map(([path, count]) => [path, count - (before[path] ?? 0)] as const)
  return Object.fromEntries(differences.filter(([, difference]) => difference > 0))
}

function countOf(path: Path, { kind }: Server): Record<string, number> {
  if (path === 'nothing') return {}
  const { fastPath } = KINDS[kind]!
  if (!fastPath) return { disabled: 1 }
  return { [path === 'compiled' && fastPath === uncompiled ? 'uncompiled' : path]: 1 }
}

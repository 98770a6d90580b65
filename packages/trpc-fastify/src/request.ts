// Reads a request for the fast path: what is called, and with which input. Whatever is not plainly
// what tRPC's clients send is left to tRPC's own adapter, with the reason, before anything is called.

import { type AnyTRPCProcedure, TRPCError, type TRPCProcedureType } from '@trpc/server'
import { parseConnectionParamsFromString, type TRPCRequestInfo } from '@trpc/server/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CallScope } from './around-calls.ts'
import type { Call, Engine } from './engine.ts'
import type { Serializer } from './serializer.ts'
import { isObject } from './value-kinds.ts'

/**
 * Why a request goes to tRPC's own adapter: `engine`: it was asked for; `procedure`: there is none at
 * the path yet (lazy routers load with their first call); `subscription`: in a batch, or served with
 * options of `sse` that the fast path does not know; `stream`: a streamed answer is asked for in another
 * way than tRPC's client does; `body`: it is empty, which old versions of tRPC refuse, or holds what
 * `Request.text()` would change; `method`, `content-type`, `batch`, `query`, `path`, `host`: unusual or wrong.
 */
export type OfficialReason =
  | 'engine'
  | 'method'
  | 'content-type'
  | 'body'
  | 'stream'
  | 'host'
  | 'query'
  | 'path'
  | 'procedure'
  | 'subscription'
  | 'batch'

/** A procedure of a router, with how it is called. */
export interface FastProcedure {
  readonly procedure: AnyTRPCProcedure
  readonly type: TRPCProcedureType
  readonly engine: Engine
  readonly call: (call: FastCall, ctx: unknown) => unknown
  /** Writes its results as JSON, in place of `JSON.stringify`. */
  readonly serialize: Serializer | undefined
}

/** What decides how requests are read. */
export interface ReadOptions {
  readonly find: (path: string) => FastProcedure | undefined
  readonly pathSeparator: string
  readonly deserialize: (input: unknown) => unknown
  readonly allowBatching: boolean
  readonly allowMethodOverride: boolean
  readonly maxBatchSize: number | undefined
  readonly servesSubscriptions: boolean
  readonly takesEmptyBody: boolean
}

/** One call of a request. */
export class FastCall implements Call {
  readonly request: FastTrpcRequest
  readonly target: FastProcedure
  readonly path: string
  readonly batchIndex: number
  readonly #inputs: Inputs
  readonly getRawInput: () => Promise<unknown>

  get type(): TRPCProcedureType {
    return this.target.type
  }

  constructor(request: FastTrpcRequest, target: FastProcedure, path: string, batchIndex: number, inputs: Inputs) {
    this.request = request
    this.target = target
    this.path = path
    this.batchIndex = batchIndex
    this.#inputs = inputs
    this.getRawInput = rawInputOf(this)
  }

  readInput(): unknown {
    const input = this.#inputs.read(this.batchIndex)
    const { lastEventId } = this.request
    if (!lastEventId) return input
    return isObject(input) ? { ...input, lastEventId } : (input ?? { lastEventId })
  }

  /** The input if it was read already. */
  readResult(): unknown {
    return this.#inputs.result(this.batchIndex)
  }

  get signal(): AbortSignal {
    return this.request.callSignal
  }
}

/**
 * A function of its own, since V8 treats closures that a constructor makes and keeps as a property badly
 * until the constructor is optimised: what they hold of past requests survives each scavenge. Measured on
 * Node 20 and 24: the young generation grew to 64 MB within half a second, and the process held 120 MB more.
 */
function rawInputOf(call: FastCall): () => Promise<unknown> {
  return async () => call.readInput()
}

/** A request that the fast path answers. */
export class FastTrpcRequest {
  readonly req: FastifyRequest
  readonly reply: FastifyReply
  readonly isBatch: boolean
  /** The client wants each result as soon as it is there. */
  readonly isStream: boolean
  readonly type: TRPCProcedureType
  /** Of a subscription: the id of the last event that the client has seen. */
  readonly lastEventId: string | null
  readonly connectionParams: TRPCRequestInfo['connectionParams']
  readonly calls: readonly FastCall[]
  /** `direct` as soon as one call is. */
  readonly engine: Engine
  /** The result of `createContext`, once it is there. */
  ctx: unknown
  /** What `responseMeta` made of the headers so far: where it is asked again for an error, it adds to them. */
  headers: Readonly<Record<string, string>> | Headers | undefined
  /** Ends a subscription from this side; its procedure is to know. */
  #ended: AbortController | undefined
  #callSignal: AbortSignal | undefined
  #controller: AbortController | undefined
  #info: TRPCRequestInfo | undefined
  #scope: CallScope | undefined

  constructor(
    req: FastifyRequest,
    reply: FastifyReply,
    { isBatch, connectionParams, lastEventId }: Query,
    isStream: boolean,
    targets: readonly FastProcedure[],
    paths: readonly string[],
    inputs: Inputs,
  ) {
    this.req = req
    this.reply = reply
    this.isBatch = isBatch
    this.isStream = isStream
    this.connectionParams = connectionParams
    this.lastEventId = lastEventId
    this.engine = targets.some(({ engine }) => engine === 'direct') ? 'direct' : 'compiled'
    this.type = targets[0]!.type
    this.calls = targets.map((target, index) => new FastCall(this, target, paths[index]!, index, inputs))
  }

  /** What `createContext` and `responseMeta` get. */
  get info(): TRPCRequestInfo {
    return (this.#info ??= new RequestInfo(this) as unknown as TRPCRequestInfo)
  }

  /** What is known of it around its calls. */
  get scope(): CallScope {
    const { req, reply, isBatch, isStream } = this
    return (this.#scope ??= new CallScope(req, reply, { isBatch, hasSerializers: !isStream }))
  }

  /** Aborts a subscription that has lasted long enough. */
  end(): void {
    this.#ended?.abort()
  }

  /** What procedures get: a subscription can be ended from this side too. */
  get callSignal(): AbortSignal {
    if (this.type !== 'subscription') return this.signal
    this.#ended ??= new AbortController()
    return (this.#callSignal ??= AbortSignal.any([this.signal, this.#ended.signal]))
  }

  /** Aborts when the connection closes before the answer was sent. */
  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal
    const controller = (this.#controller = new AbortController())
    const { req, reply } = this
    const abort = (): void => {
      reply.raw.off('close', onClose)
      req.raw.off('aborted', abort)
      controller.abort()
    }
    const onClose = (): void => {
      if (reply.raw.writableEnded) req.raw.off('aborted', abort)
      else abort()
    }
    if (reply.raw.destroyed && !reply.raw.writableEnded) controller.abort()
    else {
      reply.raw.once('close', onClose)
      req.raw.once('aborted', abort)
    }
    return controller.signal
  }
}

/** What `createContext` and `responseMeta` get. `signal` and `url` are made when they are asked for. */
class RequestInfo {
  static readonly #signal: PropertyDescriptor & ThisType<RequestInfo> = {
    get() {
      return this.#request.signal
    },
    enumerable: true,
    configurable: true,
  }
  static readonly #urlOf: PropertyDescriptor & ThisType<RequestInfo> = {
    get() {
      return (this.#url ??= urlOf(this.#request.req))
    },
    enumerable: true,
    configurable: true,
  }
  readonly #request: FastTrpcRequest
  #url: URL | undefined
  readonly isBatchCall: boolean
  readonly accept: TRPCRequestInfo['accept']
  readonly calls: TRPCRequestInfo['calls']
  readonly type: TRPCProcedureType
  readonly connectionParams: TRPCRequestInfo['connectionParams']

  constructor(request: FastTrpcRequest) {
    this.#request = request
    this.isBatchCall = request.isBatch
    this.accept = request.isStream ? 'application/jsonl' : null
    this.calls = request.calls.map((call) => ({
      batchIndex: call.batchIndex,
      path: call.path,
      procedure: call.target.procedure,
      getRawInput: call.getRawInput,
      result: () => call.readResult(),
    }))
    this.type = request.type
    this.connectionParams = request.connectionParams
    Object.defineProperty(this, 'signal', RequestInfo.#signal)
    Object.defineProperty(this, 'url', RequestInfo.#urlOf)
  }
}

/** The inputs of all calls: read and transformed once, when the first call asks for its own. */
class Inputs {
  readonly #text: string | null
  readonly #isBatch: boolean
  readonly #count: number
  readonly #deserialize: (input: unknown) => unknown
  #inputs: readonly unknown[] | undefined
  #failure: TRPCError | undefined

  constructor(text: string | null, isBatch: boolean, count: number, deserialize: (input: unknown) => unknown) {
    this.#text = text
    this.#isBatch = isBatch
    this.#count = count
    this.#deserialize = deserialize
  }

  read(index: number): unknown {
    if (this.#failure) throw this.#failure
    try {
      this.#inputs ??= this.#parse()
    } catch (cause) {
      this.#failure =
        cause instanceof TRPCError
          ? cause
          : new TRPCError({
              code: 'BAD_REQUEST',
              message: cause instanceof Error ? cause.message : 'Invalid input',
              cause,
            })
      throw this.#failure
    }
    return this.#inputs[index]
  }

  /** The input if it was read already. */
  result(index: number): unknown {
    return this.#inputs?.[index]
  }

  #parse(): unknown[] {
    if (!this.#text) return []
    const inputs: unknown = JSON.parse(this.#text)
    if (!this.#isBatch) return [this.#deserialize(inputs)]
    if (!isObject(inputs)) {
      throw new TRPCError({
        code: 'BAD_REQUEST',
        message: '"input" needs to be an object when doing a batch call',
      })
    }
    return Array.from({ length: this.#count }, (_, index) => {
      const input = (inputs as Record<number, unknown>)[index]
      return input === undefined ? undefined : this.#deserialize(input)
    })
  }
}

/** Reads a request, or tells why tRPC's own adapter must. */
export function readRequest(
  req: FastifyRequest,
  reply: FastifyReply,
  options: ReadOptions,
): FastTrpcRequest | OfficialReason {
  const { method, headers, url = '' } = req.raw
  const isPost = method === 'POST'
  if (!isPost && method !== 'GET') return 'method'
  const contentType = headers['content-type']
  if (contentType === undefined ? isPost : !JSON_TYPE.test(contentType)) return 'content-type'
  if (isPost && typeof req.body !== 'string') return 'content-type'
  if (isPost && req.body === '' && !options.takesEmptyBody) return 'body'
  if (isPost && !isPlainText(req.body as string)) return 'body'
  const trpcAccept = headers['trpc-accept']
  const isStream = trpcAccept === 'application/jsonl'
  if (!isStream && (trpcAccept !== undefined || headers.accept?.includes('application/jsonl'))) return 'stream'
  if (!isPlainHost(headers.host ?? firstOf(headers[':authority']))) return 'host'
  const query = readQuery(url)
  if (!query) return 'query'
  const { path } = req.params as { path: string }
  // tRPC decodes once more what Fastify has decoded.
  if (path.includes('%')) return 'path'

  const { pathSeparator } = options
  const procedurePath = pathSeparator === '.' ? path : path.split(pathSeparator).join('.')
  const paths = query.isBatch ? procedurePath.split(',') : [procedurePath]
  if (isStream && !query.isBatch) return 'stream'
  if (query.isBatch) {
    if (!options.allowBatching) return 'batch'
    if (options.maxBatchSize !== undefined && paths.length > options.maxBatchSize) return 'batch'
  }
  const targets: FastProcedure[] = []
  for (const name of paths) {
    const target = options.find(name)
    if (!target) return 'procedure'
    if (target.type === 'subscription' && (query.isBatch || !options.servesSubscriptions)) return 'subscription'
    if (target.type !== (targets[0] ?? target).type) return 'batch'
    targets.push(target)
  }
  const { type } = targets[0]!
  const isMutation = type === 'mutation'
  if (isPost ? !isMutation && !options.allowMethodOverride : isMutation) return 'method'

  const lastEventId = type === 'subscription' ? (firstOf(headers['last-event-id']) ?? query.lastEventId) : null
  // tRPC's adapter leaves it there, and users who verify a signature read it.
  if (isPost) (req.raw as { body?: unknown }).body = req.body
  const text = isPost ? (req.body as string) : query.input
  const inputs = new Inputs(text, query.isBatch, paths.length, options.deserialize)
  return new FastTrpcRequest(req, reply, { ...query, lastEventId }, isStream, targets, paths, inputs)
}

/** Whether `Request.text()` gives the same text: it drops byte order marks and halves of surrogate pairs. */
function isPlainText(body: string): boolean {
  return !body.startsWith('\uFEFF') && body.isWellFormed()
}

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i

/** Characters that a URL parser leaves as they are, and no fragment. */
const PLAIN_URL = /^\/(?![/\\])[!"$-~]*$/

/** The query parameters that matter. */
interface Query {
  readonly isBatch: boolean
  readonly input: string | null
  readonly connectionParams: TRPCRequestInfo['connectionParams']
  readonly lastEventId: string | null
}

const NO_QUERY: Query = { isBatch: false, input: null, connectionParams: null, lastEventId: null }

/** Reads the query; nothing when a URL parser is needed to be sure. */
function readQuery(url: string): Query | undefined {
  if (!PLAIN_URL.test(url)) return undefined
  const start = url.indexOf('?')
  if (start === -1) return NO_QUERY
  const values: Record<string, string | undefined> = {
    batch: undefined,
    input: undefined,
    connectionParams: undefined,
    lastEventId: undefined,
    'Last-Event-Id': undefined,
  }
  for (let from = start + 1; from <= url.length;) {
    const and = url.indexOf('&', from)
    const to = and === -1 ? url.length : and
    const equals = url.indexOf('=', from)
    const end = equals === -1 || equals > to ? to : equals
    const name = url.slice(from, end)
    if (name.includes('%') || name.includes('+')) return undefined
    // Of several, the first counts.
    if (Object.hasOwn(values, name) && values[name] === undefined) {
      values[name] = decode(url.slice(end + 1, to))
      if (values[name] === undefined) return undefined
    }
    from = to + 1
  }
  const connectionParams = readConnectionParams(values['connectionParams'])
  if (connectionParams === undefined) return undefined
  return {
    isBatch: values['batch'] === '1',
    input: values['input'] ?? null,
    connectionParams,
    lastEventId: values['lastEventId'] ?? values['Last-Event-Id'] ?? null,
  }
}

function readConnectionParams(text: string | undefined): TRPCRequestInfo['connectionParams'] | undefined {
  if (text === undefined) return null
  try {
    return parseConnectionParamsFromString(text)
  } catch {
    return undefined
  }
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

/** Decodes as URLSearchParams does, or not at all where that would put U+FFFD for what is malformed. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.includes('+') ? text.replaceAll('+', ' ') : text)
  } catch {
    return undefined
  }
}

/** Host headers that were found to be right: there are few of them, unless somebody makes them up. */
const plainHosts = new Set<string>()
const MOST_HOSTS = 100

/** Whether a URL can be made of it, which names that host and nothing more. */
function isPlainHost(host: string | undefined): boolean {
  if (host === undefined || plainHosts.has(host)) return true
  if (!/^[\w.-]+(?::\d{1,5})?$|^\[[\da-f:.]+\](?::\d{1,5})?$/i.test(host) || !URL.canParse(`http://${host}`))
    return false
  if (plainHosts.size < MOST_HOSTS) plainHosts.add(host)
  return true
}

function urlOf({ raw }: FastifyRequest): URL {
  const isSecure =
    raw.headers[':scheme'] === 'https' ||
    ('encrypted' in raw.socket && (raw.socket as { encrypted?: boolean }).encrypted)
  const host = raw.headers.host ?? raw.headers[':authority'] ?? 'localhost'
  return new URL(raw.url!, `${isSecure ? 'https:' : 'http:'}//${String(host)}`)
}

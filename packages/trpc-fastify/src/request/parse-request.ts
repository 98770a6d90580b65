// Reads a request for the fast path: what is called, and with which input. Whatever is not plainly
// what tRPC's clients send is left to tRPC's own adapter, with the reason, before anything is called.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type FastProcedure, FastTrpcRequest } from './trpc-request.ts'
import { isPlainHost } from './host.ts'
import { Inputs } from './inputs.ts'
import { readQuery } from './query-string.ts'

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
  const host = headers.host ?? firstOf(headers[':authority'])
  if (host !== undefined && !isPlainHost(host)) return 'host'
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

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

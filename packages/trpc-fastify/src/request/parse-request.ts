// Parses a request for the fast path. A request that tRPC's clients would not send goes to tRPC's own adapter, with the
// reason, before any code of the user runs.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RegisteredProcedure } from '../procedure/registry.ts'
import { isPlainHost } from './plain-host.ts'
import { Inputs } from './inputs.ts'
import { type Query, readQuery } from './query-string.ts'
import { TrpcRequest } from './trpc-request.ts'

/**
 * Why a request goes to tRPC's own adapter. `disabled`: the option `fastPath` is `false`. The other reasons name the part of
 * the request that the fast path does not support.
 */
export type FallbackReason =
  | 'disabled'
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

export interface ParseOptions {
  readonly find: (path: string) => RegisteredProcedure | undefined
  readonly pathSeparator: string
  readonly deserialize: (input: unknown) => unknown
  readonly allowBatching: boolean
  readonly allowMethodOverride: boolean
  readonly maxBatchSize: number | undefined
  readonly servesSubscriptions: boolean
  readonly takesEmptyBody: boolean
}

/** Parses a request, or returns why tRPC's own adapter must serve it. */
export function parseRequest(
  req: FastifyRequest,
  reply: FastifyReply,
  options: ParseOptions,
): TrpcRequest | FallbackReason {
  const { raw } = req
  const { headers } = raw
  const isPost = raw.method === 'POST'
  const isStream = headers['trpc-accept'] === 'application/jsonl'
  const unsupported = unsupportedBody(req, isPost, options.takesEmptyBody) ?? unsupportedHeaders(req, isStream)
  if (unsupported !== undefined) return unsupported
  const query = readQuery(raw.url ?? '')
  if (!query) return 'query'
  const { path } = req.params as { path: string }
  // tRPC decodes the path once more after Fastify.
  if (path.includes('%')) return 'path'

  const { pathSeparator } = options
  const procedurePath = pathSeparator === '.' ? path : path.split(pathSeparator).join('.')
  const paths = query.isBatch ? procedurePath.split(',') : [procedurePath]
  if (isStream && !query.isBatch) return 'stream'
  if (query.isBatch && !allowsBatch(paths.length, options)) return 'batch'
  const procedures = findProcedures(paths, query.isBatch, options)
  if (typeof procedures === 'string') return procedures
  const { type } = procedures[0]!
  if (isPost ? type !== 'mutation' && !options.allowMethodOverride : type === 'mutation') return 'method'

  // As with tRPC's adapter, users who verify a signature find the body here.
  if (isPost) (raw as { body?: unknown }).body = req.body
  return new TrpcRequest(req, reply, {
    isBatch: query.isBatch,
    isStream,
    connectionParams: query.connectionParams,
    lastEventId: type === 'subscription' ? lastEventIdOf(req, query) : null,
    procedures,
    paths,
    inputs: new Inputs(isPost ? (req.body as string) : query.input, query.isBatch, paths.length, options.deserialize),
  })
}

function unsupportedBody(req: FastifyRequest, isPost: boolean, takesEmptyBody: boolean): FallbackReason | undefined {
  const { method, headers } = req.raw
  if (!isPost && method !== 'GET') return 'method'
  const contentType = headers['content-type']
  if (contentType === undefined ? isPost : !JSON_TYPE.test(contentType)) return 'content-type'
  if (!isPost) return undefined
  const { body } = req
  if (typeof body !== 'string') return 'content-type'
  return (body === '' && !takesEmptyBody) || !isPlainText(body) ? 'body' : undefined
}

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i

/** Whether `Request.text()` returns the same text. It drops byte order marks and replaces lone surrogates. */
function isPlainText(body: string): boolean {
  return !body.startsWith('\uFEFF') && body.isWellFormed()
}

function unsupportedHeaders({ raw: { headers } }: FastifyRequest, isStream: boolean): FallbackReason | undefined {
  if (!isStream && (headers['trpc-accept'] !== undefined || headers.accept?.includes('application/jsonl'))) {
    return 'stream'
  }
  const host = headers.host ?? firstOf(headers[':authority'])
  return host !== undefined && !isPlainHost(host) ? 'host' : undefined
}

function allowsBatch(calls: number, { allowBatching, maxBatchSize }: ParseOptions): boolean {
  return allowBatching && (maxBatchSize === undefined || calls <= maxBatchSize)
}

function findProcedures(
  paths: readonly string[],
  isBatch: boolean,
  options: ParseOptions,
): RegisteredProcedure[] | FallbackReason {
  const procedures: RegisteredProcedure[] = []
  for (const path of paths) {
    const procedure = options.find(path)
    if (!procedure) return 'procedure'
    if (procedure.type === 'subscription' && (isBatch || !options.servesSubscriptions)) return 'subscription'
    if (procedure.type !== (procedures[0] ?? procedure).type) return 'batch'
    procedures.push(procedure)
  }
  return procedures
}

function lastEventIdOf({ raw }: FastifyRequest, { lastEventId }: Query): string | null {
  return firstOf(raw.headers['last-event-id']) ?? lastEventId
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

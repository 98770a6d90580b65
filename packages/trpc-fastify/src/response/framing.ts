// How long a response is, only the server says: bytes beyond a given length would be taken for the next response of the
// connection, which a proxy may send to another client.

import type { AnyTRPCRouter } from '@trpc/server'
import type { FastifyReply } from 'fastify'
import type { TrpcHandlerOptions } from '../options/types.ts'

type Options = TrpcHandlerOptions<AnyTRPCRouter>
type MetaHeaders = NonNullable<ReturnType<NonNullable<Options['responseMeta']>>['headers']>

const FRAMING = ['content-length', 'transfer-encoding']

/** Returns the same options with a `responseMeta` whose headers say nothing of length, as those of an upstream response do. */
export function withoutFraming(options: Options): Options {
  const { responseMeta } = options
  if (!responseMeta) return options
  return {
    ...options,
    responseMeta(given) {
      const meta = responseMeta(given)
      const headers = meta?.headers
      if (!headers || !names(headers).some(isFraming)) return meta
      return { ...meta, headers: withoutThem(headers) }
    },
  }
}

/** Removes the length that a hook has set. Fastify corrects it for a string, and leaves that of a stream or a `Response`. */
export function forgetLength(reply: FastifyReply): void {
  if (!reply.hasHeader('content-length')) return
  reply.removeHeader('content-length')
  reply.raw.removeHeader('content-length')
}

const names = (headers: MetaHeaders): string[] =>
  headers instanceof Headers ? [...headers.keys()] : Object.keys(headers)

const isFraming = (name: string): boolean => FRAMING.includes(name.toLowerCase())

function withoutThem(headers: MetaHeaders): MetaHeaders {
  if (!(headers instanceof Headers))
    return Object.fromEntries(Object.entries(headers).filter(([name]) => !isFraming(name)))
  const others = new Headers(headers)
  for (const name of FRAMING) others.delete(name)
  return others
}

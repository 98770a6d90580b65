// Compression of responses that Next writes, by more encodings than Next knows.

import type { FastifyBaseLogger } from 'fastify'
import type { CompressionMiddleware } from '../next/handler-types.ts'
import type { ResolvedCompressionOptions } from '../options/schema.ts'
import { type Compressor, compressResponse } from './compressed-response.ts'
import { type Encoders, encodersFor, type Zlib } from './encoders.ts'
import { type Encoding, type Negotiate, type NegotiatedEncodings, negotiation } from './negotiation.ts'

/** The compression of an app. */
export class Compression implements NegotiatedEncodings {
  readonly #encoders: Encoders
  /** The encodings that clients get, the preferred one first. */
  readonly encodings: readonly Encoding[]
  readonly negotiate: Negotiate

  constructor(encoders: Encoders) {
    this.#encoders = encoders
    this.encodings = [...encoders.keys()]
    this.negotiate = negotiation(this.encodings)
  }

  /** The middleware that compresses types of bodies that are compressible. */
  middleware(isCompressible: Compressor['isCompressible']): CompressionMiddleware {
    const encoderFor: Compressor['encoderFor'] = (accepted) => {
      const encoding = this.negotiate(accepted)
      const create = encoding && this.#encoders.get(encoding)
      return create && [encoding, create()]
    }
    return (request, response, next) => {
      compressResponse(request, response, { isCompressible, encoderFor })
      next()
    }
  }
}

/** Creates the compression of an app, and warns if this Node does not support all of it. */
export function createCompression(
  options: ResolvedCompressionOptions,
  log: Pick<FastifyBaseLogger, 'warn'>,
  zlib?: Zlib,
): Compression {
  const encoders = encodersFor(options, zlib)
  if (options.encodings.includes('zstd') && !encoders.has('zstd')) {
    log.warn(`responses are not compressed by zstd: Node ${process.version} has no zstd, use 22.15 or newer`)
  }
  return new Compression(encoders)
}

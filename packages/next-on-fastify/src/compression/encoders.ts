// Creates the streams that compress bodies.

import zlib, { type BrotliCompress, type Gzip, type ZstdCompress } from 'node:zlib'
import type { ResolvedCompressionOptions } from '../options/schema.ts'
import type { Encoding } from './negotiation.ts'

/** A stream that compresses a body. */
export interface Encoder {
  readonly stream: BrotliCompress | Gzip | ZstdCompress
  /** Lets the client decode everything that was written so far. */
  flush(): void
}

/** Creates an encoder, for each encoding. The preferred encoding comes first. */
export type Encoders = ReadonlyMap<Encoding, () => Encoder>

/** The used functions of `node:zlib`. Node before 22.15 has no zstd. */
export type Zlib = Pick<typeof zlib, 'createBrotliCompress' | 'createDeflate' | 'createGzip'> &
  Partial<Pick<typeof zlib, 'createZstdCompress'>>

/** Encoders for all encodings that this Node supports. */
export function encodersFor(options: ResolvedCompressionOptions, from: Zlib = zlib): Encoders {
  const { encodings, brotliQuality, zstdLevel, windowBits } = options
  const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_QUALITY, ZSTD_c_compressionLevel, ZSTD_c_windowLog } = zlib.constants
  const brotli = { params: { [BROTLI_PARAM_QUALITY]: brotliQuality, [BROTLI_PARAM_LGWIN]: windowBits } }
  const zstd = { params: { [ZSTD_c_compressionLevel]: zstdLevel, [ZSTD_c_windowLog]: windowBits } }
  const { createZstdCompress } = from
  const encoders: Record<Encoding, (() => Encoder) | undefined> = {
    br: () => flushable(from.createBrotliCompress(brotli)),
    zstd: createZstdCompress && (() => flushable(createZstdCompress(zstd))),
    // As Next compresses.
    gzip: () => syncFlushable(from.createGzip()),
    deflate: () => syncFlushable(from.createDeflate()),
  }
  const found = new Map<Encoding, () => Encoder>()
  for (const encoding of [...encodings, 'gzip', 'deflate'] as const) {
    const create = encoders[encoding]
    if (create !== undefined) found.set(encoding, create)
  }
  return found
}

function flushable(stream: BrotliCompress | ZstdCompress): Encoder {
  return { stream, flush: () => stream.flush() }
}

/** By default, a flush of gzip resets its dictionary. */
function syncFlushable(stream: Gzip): Encoder {
  return { stream, flush: () => stream.flush(zlib.constants.Z_SYNC_FLUSH) }
}

// Which content encoding a request gets. It is a part of the key.

import type { NegotiatedEncodings } from '../compression/negotiation.ts'

/** The content encodings of an app's responses. */
export interface ContentEncodings {
  /** The encoding for an `Accept-Encoding` header, or `''` for none. Undefined if that is unclear. */
  encodingFor(accepted: string): string | undefined
  readonly known: ReadonlySet<string>
}

const NAMES = new Set(['br', 'compress', 'deflate', 'gzip', 'zstd'])

/** Which of its two content encodings Next chooses, unless weights make that unclear. */
export const NEXT_ENCODINGS: ContentEncodings = {
  encodingFor: (accepted) => {
    let encoding: '' | 'deflate' | 'gzip' = ''
    // Beside other encodings, the place of `identity` counts.
    if (accepted === '' || accepted === 'identity') return encoding
    for (const part of accepted.split(',')) {
      const token = part.trim()
      if (!NAMES.has(token)) return undefined
      if (token === 'gzip') encoding = 'gzip'
      else if (token === 'deflate' && encoding === '') encoding = 'deflate'
    }
    return encoding
  },
  known: new Set(['deflate', 'gzip']),
}

/** The encodings of an app whose compression is replaced. */
export function encodingsOf({ negotiate, encodings }: NegotiatedEncodings): ContentEncodings {
  return { encodingFor: (accepted) => negotiate(accepted) ?? '', known: new Set(encodings) }
}

// The header by which a CDN knows the tags of a response. No tag can end the header or the list: every character that is
// not plain is percent-encoded, in all formats the same way.

import type { TagHeader } from '../options/types.ts'

interface Format {
  readonly name: string
  readonly separator: string
  /** Maximum size of the value, in bytes. */
  readonly maxBytes: number
  /** Maximum size of a tag, in bytes. */
  readonly maxTagBytes: number
}

/**
 * What each CDN reads. Fastly drops further keys of a longer header, Cloudflare does not cache such a response by its tags,
 * and Varnish fails on it, by default above 8 KiB with the name.
 */
const FORMATS: Readonly<Record<TagHeader, Format>> = {
  'cache-tag': { name: 'Cache-Tag', separator: ',', maxBytes: 16_000, maxTagBytes: 1024 },
  'surrogate-key': { name: 'Surrogate-Key', separator: ' ', maxBytes: 16_000, maxTagBytes: 1024 },
  xkey: { name: 'xkey', separator: ' ', maxBytes: 8000, maxTagBytes: 8000 },
}

/** Characters that would end a header, a list or a tag. */
const NOT_PLAIN = /[^\x21-\x7e]|[",]/g

/** The name of a header, and its value for some tags. */
export interface TagFormat {
  readonly name: string
  readonly separator: string
  /** The value. Undefined if the tags are too long for the CDN. */
  readonly valueOf: (tags: Iterable<string>) => string | undefined
}

/** The format of a header. */
export function tagFormat(header: TagHeader): TagFormat {
  const { name, separator, maxBytes, maxTagBytes } = FORMATS[header]
  return {
    name,
    separator,
    valueOf(tags) {
      const written = writtenTags(tags)
      const value = written.join(separator)
      return value.length > maxBytes || written.some(({ length }) => length > maxTagBytes) ? undefined : value
    },
  }
}

/** Tags as headers have them. Next itself splits them at commas. */
export function writtenTags(tags: Iterable<string>): string[] {
  const written = [...tags].flatMap((tag) => tag.split(',')).map((tag) => tag.replace(NOT_PLAIN, encoded))
  return [...new Set(written)].filter((tag) => tag !== '')
}

function encoded(character: string): string {
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&')
}

// Finds paths that a server would resolve to another path: `/public/..%2fsecret` is `/secret` for nginx and many others.
// Servers differ in how they decode and split paths. A path is safe if no server can read it as another one.

/** Such values form no dot segment and no separator, so most values need no further check. */
const PLAIN = /^[\w\-~!$'()*+,:=@&]*$/
/** Chains of proxies decode twice. A value with more levels hides something. */
const MAX_DECODES = 4
// oxlint-disable-next-line no-control-regex -- These are the characters to find.
const CONTROL = /[\u0000-\u001F\u007F]/

/** Why a path is unsafe. The words complete "a value …". */
export type PathEscape = 'has a control character' | 'has a dot segment' | 'has a slash' | 'is encoded too often'

/** Whether a value must be checked by {@link pathEscapeOf} once it is in its path. */
export function isSuspect(value: string): boolean {
  return !PLAIN.test(value)
}

/**
 * Whether a server may read a path as another one, by any number of decodings.
 *
 * @param path A path without a query, percent-encoded.
 */
export function pathEscapeOf(path: string): PathEscape | undefined {
  let text = path
  for (let level = 0; level <= MAX_DECODES; level++) {
    if (CONTROL.test(text)) return 'has a control character'
    if (hasDotSegment(text)) return 'has a dot segment'
    const decoded = decodeOnce(text)
    if (decoded === text) return undefined
    text = decoded
  }
  return 'is encoded too often'
}

/** Whether a value has a slash or backslash, encoded or not. */
export function hasSeparator(value: string): boolean {
  let text = value
  for (let level = 0; level <= MAX_DECODES; level++) {
    if (/[/\\]/.test(bestFitOf(text))) return true
    const decoded = decodeOnce(text)
    if (decoded === text) return false
    text = decoded
  }
  return false
}

/**
 * Dot segments, with `/` and `\` as separators. Servlet containers drop `;parameters` of a segment, Windows drops
 * spaces, and best-fit mappings turn full-width characters into ASCII. `?` and `#` end a path for a second parser.
 */
function hasDotSegment(path: string): boolean {
  return bestFitOf(path)
    .split(/[/\\?#]/)
    .some((segment) => {
      const name = segment.split(';', 1)[0]!.trim()
      return name === '.' || name === '..'
    })
}

/** The characters of a text whose UTF-8 may be decoded to bytes, and full-width ones as ASCII. */
function bestFitOf(text: string): string {
  return text
    .replaceAll(/[\u00C2-\u00F4][\u0080-\u00BF]{1,3}/g, (bytes) => Buffer.from(bytes, 'latin1').toString())
    .normalize('NFKC')
}

/**
 * Decodes percent escapes once, byte by byte: separators and dots are ASCII in UTF-8. Some old servers also accept overlong
 * forms (`%c0%ae`) and `%u002e`.
 */
function decodeOnce(text: string): string {
  return text
    .replaceAll(/%(?:u([\dA-Fa-f]{4})|([\dA-Fa-f]{2}))/g, (_, wide: string | undefined, byte: string) =>
      String.fromCharCode(Number.parseInt(wide ?? byte, 16)),
    )
    .replaceAll(/[\u00C0\u00C1]([\u0080-\u00BF])/g, (pair) =>
      String.fromCharCode(((pair.charCodeAt(0) & 0x1f) << 6) | (pair.charCodeAt(1) & 0x3f)),
    )
    .replaceAll(/\u00E0\u0080([\u0080-\u00BF])/g, (triple) => String.fromCharCode(triple.charCodeAt(2) & 0x3f))
}

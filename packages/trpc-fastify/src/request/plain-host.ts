// The Host header of a request. Common hosts are recognized without a URL parser, and without a cache, which clients
// could fill.

/** Whether a URL parser would accept the value as a host and nothing more. */
export function isPlainHost(host: string): boolean {
  if (host.charCodeAt(0) === OPENING_BRACKET) return isPlainAddress(host)
  const colon = host.indexOf(':')
  if (colon !== -1 && !isPort(host, colon + 1)) return false
  const kind = kindOf(host, colon === -1 ? host.length : colon)
  return kind === COMMON || (kind === UNUSUAL && URL.canParse(`http://${host}`))
}

const [OPENING_BRACKET, ZERO, NINE, DOT, HYPHEN, UNDERSCORE, LOWER_A, LOWER_X, LOWER_Z] = [
  0x5b, 0x30, 0x39, 0x2e, 0x2d, 0x5f, 0x61, 0x78, 0x7a,
]
/** Labels like numbers or Punycode make a host unusual: only a URL parser can check it. */
const [COMMON, UNUSUAL, INVALID] = [0, 1, 2]
const MAX_PORT = 65_535
/** Six groups and an IPv4 address in brackets. */
const MAX_ADDRESS_LENGTH = 47

/** A common host is four numbers, or a name of letters, digits, `-` and `_` whose last label starts with no digit. */
function kindOf(host: string, end: number): number {
  let length = 0
  let number = 0
  let dots = 0
  let isNumeric = true
  let beginsAsNumber = false
  let isPunycode = false
  for (let index = 0; index < end; index++) {
    const code = host.charCodeAt(index)
    if (code >= ZERO && code <= NINE) {
      if (length === 0) beginsAsNumber = true
      // A leading zero would make the number octal.
      if (length > 0 && number === 0) isNumeric = false
      number = number * 10 + code - ZERO
      if (number > 255) isNumeric = false
      length++
    } else if (code === DOT) {
      if (length === 0) isNumeric = false
      dots++
      length = 0
      number = 0
    } else {
      const letter = code | 0x20
      if (!isNameCharacter(code)) return INVALID
      isNumeric = false
      if (length === 0) {
        beginsAsNumber = false
        isPunycode ||= letter === LOWER_X
      }
      length++
    }
  }
  if (end === 0) return INVALID
  if (length === 0) return UNUSUAL
  if (isNumeric) return dots === 3 ? COMMON : UNUSUAL
  return beginsAsNumber || isPunycode ? UNUSUAL : COMMON
}

/** Letters in either case, hyphen and underscore. */
function isNameCharacter(code: number): boolean {
  const letter = code | 0x20
  return (letter >= LOWER_A && letter <= LOWER_Z) || code === HYPHEN || code === UNDERSCORE
}

/** One to five digits, up to 65535. */
function isPort(host: string, start: number): boolean {
  const digits = host.length - start
  if (digits < 1 || digits > 5) return false
  let port = 0
  for (let index = start; index < host.length; index++) {
    const code = host.charCodeAt(index)
    if (code < ZERO || code > NINE) return false
    port = port * 10 + code - ZERO
  }
  return port <= MAX_PORT
}

/** An IPv6 address in brackets. */
function isPlainAddress(host: string): boolean {
  const closing = host.indexOf(']')
  if (closing === -1) return false
  if (closing !== host.length - 1 && (host[closing + 1] !== ':' || !isPort(host, closing + 2))) return false
  const address = host.slice(0, closing + 1)
  // Checked first, so that the expression reads a short text.
  return address.length <= MAX_ADDRESS_LENGTH && /^\[[\da-f:.]+\]$/i.test(address) && URL.canParse(`http://${address}`)
}

// The text of an error that kept an app from starting: what is wrong first, then where in the code of the user.

import { debuglog } from 'node:util'

/** Where the code of this package is. */
const OWN_CODE = new URL('..', import.meta.url).href

/** Node puts the place of a syntax error, with the code there, before its name: `/srv/app.ts:9`. */
const PLACE = /^(?:file:\/\/|\/|[A-Za-z]:\\).*:\d+$/

/** The error with its stack, without frames of Node and of this package unless `NODE_DEBUG=clustered-server` is set. */
export function failureText(error: Error): string {
  const { stack } = error
  if (stack === undefined || debuglog('clustered-server').enabled) return stack ?? String(error)
  const lines = stack.split('\n')
  const [first = ''] = lines
  const start = PLACE.test(first) ? lines.findIndex((line) => line.startsWith(error.name)) : 0
  // The code of a syntax error stays out of the text, as it may contain anything.
  const message = start === -1 ? [String(error)] : lines.slice(start).filter((line) => !isFrame(line))
  const place = start === 0 ? [] : [`    at ${first}`]
  return [...message, ...place, ...lines.filter((line) => isFrame(line) && isOfUser(line))].join('\n')
}

const isFrame = (line: string): boolean => /^ {4}at /.test(line)

function isOfUser(frame: string): boolean {
  return !/(?:\(| )node:|\(<anonymous>\)$/.test(frame) && !frame.includes(OWN_CODE)
}

/** Where the files of this package are. */
const OWN = new URL('..', import.meta.url).href
/** How Node begins the stack of a syntax error: `file:///app.ts:3` or `/app.cjs:3`. */
const OF_SYNTAX_ERROR = /^(?:file:\/\/|\/|[A-Z]:\\)\S.*:\d+$/
const FRAME = /^ {4}at .*(?:file:\/\/|[ (]\/|[A-Z]:\\)/

/** File and line in the code of an app, or of a package that it uses, that has thrown an error with this stack. */
export function placeIn(stack: string): string | undefined {
  const [first = '', ...lines] = stack.split('\n')
  if (OF_SYNTAX_ERROR.test(first)) return first
  const frame = lines.find((line) => FRAME.test(line))
  const place = frame && placeOf(frame)
  return place?.startsWith(OWN) ? undefined : place
}

/** A text, followed by the place in the code of an app that has thrown an error. */
export function withPlace(text: string, error: unknown): string {
  return error instanceof Error ? withPlaceIn(text, error.stack ?? '') : text
}

/** The same, by the stack of the error. */
export function withPlaceIn(text: string, stack: string): string {
  const place = placeIn(stack)
  return place === undefined ? text : `${text} (${place})`
}

/** The place of `    at run (file:///app.js:1:2)` and of `    at async file:///app.js:1:2`. */
function placeOf(frame: string): string {
  if (frame.endsWith(')')) return frame.slice(frame.lastIndexOf('(') + 1, -1)
  return frame.slice('    at '.length).replace('async ', '')
}

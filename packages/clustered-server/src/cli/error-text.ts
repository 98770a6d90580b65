import { debuglog } from 'node:util'
import { errorCodes } from '../errors.ts'
import { withFlagNames } from './flags.ts'

/** Where the files of this package are. */
const OWN = new URL('..', import.meta.url).href

/** Whether errors have a stack, by `NODE_DEBUG=clustered-server`. */
export function showsStacks(): boolean {
  return debuglog('clustered-server').enabled
}

/** An error that ends the command, in one line unless stacks are shown. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const text = withFlagNames(error.message)
  if (!(error instanceof errorCodes.CLUSTERED_SERVER_START_FAILED)) return text
  if (showsStacks()) return `${text}\n${stackWithCauses(error)}`
  const place = placeOf(error.cause)
  return place === undefined ? text : `${text} (${place})`
}

/** The stacks of an error and of its causes. */
export function stackWithCauses({ stack = '', cause }: Error): string {
  return cause instanceof Error ? `${stack}\ncaused by: ${stackWithCauses(cause)}` : stack
}

/** File and line where the code of an app, or of a package that it uses, has thrown. */
function placeOf(error: unknown): string | undefined {
  const { stack = '' } = error instanceof Error ? error : {}
  const frame = stack.split('\n').find((line) => /^ {4}at .*(?:file:\/\/|[ (]\/|[A-Z]:\\)/.test(line))
  const place = frame && placeIn(frame)
  return place?.startsWith(OWN) ? undefined : place
}

/** The place of `    at run (file:///app.js:1:2)` and of `    at async file:///app.js:1:2`. */
function placeIn(frame: string): string {
  if (frame.endsWith(')')) return frame.slice(frame.lastIndexOf('(') + 1, -1)
  return frame.slice('    at '.length).replace('async ', '')
}

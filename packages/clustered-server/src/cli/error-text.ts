import { debuglog } from 'node:util'
import { withPlace } from '../app/error-place.ts'
import { errorCodes } from '../errors.ts'
import { withFlagNames } from './flags.ts'

/** Whether errors have a stack, by `NODE_DEBUG=clustered-server`. */
export function showsStacks(): boolean {
  return debuglog('clustered-server').enabled
}

/** An error that ends the command, in one line unless stacks are shown. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const text = withFlagNames(error.message)
  if (!(error instanceof errorCodes.CLUSTERED_SERVER_START_FAILED)) return text
  return showsStacks() ? `${text}\n${stackWithCauses(error)}` : withPlace(text, error.cause)
}

/** The stacks of an error and of its causes. */
export function stackWithCauses({ stack = '', cause }: Error): string {
  return cause instanceof Error ? `${stack}\ncaused by: ${stackWithCauses(cause)}` : stack
}

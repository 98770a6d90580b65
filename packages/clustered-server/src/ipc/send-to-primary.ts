import { sealed, type ToPrimary } from './messages.ts'

/** Tells the primary something, if it is there. */
export function tellPrimary(message: ToPrimary): void {
  // One that has just died is heard of by the end of the channel, and not by an error of the process.
  if (process.connected) process.send!(sealed(message), undefined, undefined, () => {})
}

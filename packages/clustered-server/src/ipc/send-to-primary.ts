import { encode, type ToPrimary } from './messages.ts'

/** Sends a message to the primary, if it is alive. */
export function sendToPrimary(message: ToPrimary): void {
  // A primary that has died shows as the end of the channel, not as an error of the process.
  if (process.connected) process.send!(encode(message), undefined, undefined, () => {})
}

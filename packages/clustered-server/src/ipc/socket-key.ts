import type { SocketQuery } from './messages.ts'

/** Identifies a shared socket. */
export function keyOf({ address, port, addressType, flags, index }: SocketQuery): string {
  return JSON.stringify([address, port, addressType, flags, port === 0 ? index : 0])
}

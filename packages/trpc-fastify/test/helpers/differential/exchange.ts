/** What can be seen of an exchange. */
export interface Exchange {
  readonly status: number
  readonly headers: Record<string, unknown>
  /** Of a streamed batch, what its lines say. */
  readonly body: string
}

/** An answer whose connection the server ends before the answer does. */
export const BROKEN_OFF: Exchange = { status: 0, headers: {}, body: 'broken off' }

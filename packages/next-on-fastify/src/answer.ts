import type { IncomingMessage, ServerResponse } from 'node:http'

/** Answers a request: Next, or what stands before it. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { answer } from './faults.ts'

/** As Express makes it: a function with methods, and a third parameter. */
export default function expressLike(): RequestListener {
  const app = (request: IncomingMessage, response: ServerResponse, _next?: () => void): void => {
    void answer(request, response)
  }
  return Object.assign(app, { use: () => app, listen: () => app })
}

import { ServerResponse } from 'node:http'
import { BODY, filledCache, HEAD, requestOf } from './filled-cache.ts'

// Decides how much of a hit is the cache itself: the rest is what Node takes to write any response.

const cache = await filledCache(5000)
const request = requestOf('/page-4711')
const never = (): never => {
  throw new Error('It is not cached')
}
const head = [...HEAD]

/** A hit among 5,000 pages, from the lookup to the written head. */
export default {
  'from the cache': () => cache.serve(never, request, new ServerResponse(request)),
  'the same response without a lookup': () => new ServerResponse(request).writeHead(200, head).end(BODY),
}

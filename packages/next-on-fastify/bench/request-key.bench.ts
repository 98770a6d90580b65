import { createHash } from 'node:crypto'
import { NEXT_ENCODINGS } from '../src/response-cache/content-encodings.ts'
import { requestKey } from '../src/response-cache/key.ts'
import { requestOf } from './filled-cache.ts'

// Decides whether a key is read from the headers that matter, or made of all of them: it is paid for every request.

const PATHS = ['/static', '/shop/shoes/4711?color=red&size=42&sort=price']

/** The cache key of a request. */
export default Object.fromEntries(
  PATHS.map((path) => {
    const request = requestOf(path)
    return [
      path,
      {
        'of the headers that matter': () => requestKey(request, NEXT_ENCODINGS),
        'of all headers as JSON': () => JSON.stringify([request.method, request.url, request.headers]),
        'a hash of all headers': () =>
          createHash('sha1')
            .update(JSON.stringify([request.method, request.url, request.headers]))
            .digest('base64'),
      },
    ]
  }),
)

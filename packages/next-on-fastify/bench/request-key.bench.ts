import { createHash } from 'node:crypto'
import { test } from 'vitest'
import { NEXT_ENCODINGS } from '../src/response-cache/content-encodings.ts'
import { requestKey } from '../src/response-cache/key.ts'
import { requestOf } from './filled-cache.ts'

// Decides whether a key is read from the headers that matter, or made of all of them: it is paid for every request.

for (const path of ['/static', '/shop/shoes/4711?color=red&size=42&sort=price']) {
  test(`the cache key of ${path}`, async ({ bench }) => {
    const request = requestOf(path)
    await bench.compare(
      bench('of the headers that matter', () => {
        requestKey(request, NEXT_ENCODINGS)
      }),
      bench('of all headers as JSON', () => {
        JSON.stringify([request.method, request.url, request.headers])
      }),
      bench('a hash of all headers', () => {
        createHash('sha1')
          .update(JSON.stringify([request.method, request.url, request.headers]))
          .digest('base64')
      }),
    )
  })
}

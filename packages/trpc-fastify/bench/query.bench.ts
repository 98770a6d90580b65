import { test } from 'vitest'
import { readQuery } from '../src/request/query-string.ts'

const urls = {
  'no query': '/trpc/hello',
  'an input': `/trpc/greet?input=${encodeURIComponent('{"name":"world"}')}`,
  'the inputs of a batch': `/trpc/a,b,c?batch=1&input=${encodeURIComponent('{"0":{"name":"a"},"1":{"name":"b"},"2":{"name":"c"}}')}`,
}

for (const [name, url] of Object.entries(urls)) {
  test(`reading a URL with ${name}`, async ({ bench }) => {
    await bench.compare(
      bench('the parameters that matter', () => {
        readQuery(url)
      }),
      bench('by a URL, as the official adapter does', () => {
        const { searchParams } = new URL(url, 'http://localhost')
        searchParams.get('batch')
        searchParams.get('input')
      }),
    )
  })
}

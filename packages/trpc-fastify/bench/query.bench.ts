import { readQuery } from '../src/request/query-string.ts'

const urls = {
  'no query': '/trpc/hello',
  'an input': `/trpc/greet?input=${encodeURIComponent('{"name":"world"}')}`,
  'the inputs of a batch': `/trpc/a,b,c?batch=1&input=${encodeURIComponent('{"0":{"name":"a"},"1":{"name":"b"},"2":{"name":"c"}}')}`,
}

/** Reading the URL of a request. */
export default Object.fromEntries(
  Object.entries(urls).map(([name, url]) => [
    name,
    {
      'the parameters that matter': () => readQuery(url),
      'by a URL, as the official adapter does': () => {
        const { searchParams } = new URL(url, 'http://localhost')
        return [searchParams.get('batch'), searchParams.get('input')]
      },
    },
  ]),
)

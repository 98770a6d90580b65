import { describe, it } from 'vitest'
import { compare, type ComparedRequest, type Path, titled } from '../../helpers/differential/compare.ts'
import { andStreamed, echoMount, JSON_TYPE, ON_EMPTY_BODY } from '../../helpers/differential/requests.ts'

const ONE = '%7B%220%22%3A1%7D'

/** Query strings of a call that is no batch, with the path that each must take. */
const SINGLE: readonly (readonly [query: string, on: Path])[] = [
  ['', 'compiled'],
  ['?', 'compiled'],
  ['??', 'compiled'],
  ['?&', 'compiled'],
  ['?&&input=1&', 'compiled'],
  ['?=', 'compiled'],
  ['?=1&input=2', 'compiled'],
  ['?input', 'compiled'],
  ['?input=', 'compiled'],
  ['?input=1', 'compiled'],
  ['?input==1', 'compiled'],
  ['?input=1=2', 'compiled'],
  ['?input=1&input=2', 'compiled'],
  ['?input=&input=2', 'compiled'],
  ['?input&input=2', 'compiled'],
  ['?Input=1', 'compiled'],
  ['?input=1?input=2', 'compiled'],
  ['?x=?&input=1', 'compiled'],
  ['?inputs=1', 'compiled'],
  ['?%69nput=1', 'query'],
  ['?in%70ut=1&input=2', 'query'],
  ['?input=1&%62atch=1', 'query'],
  ['?inp+ut=1', 'query'],
  ['?+input=1', 'query'],
  ['?input=%31', 'compiled'],
  ['?input=%2531', 'compiled'],
  ['?input=%22%2522%22', 'compiled'],
  ['?input=+1+', 'compiled'],
  ['?input=%2B1', 'compiled'],
  ['?input=%22a+b%22', 'compiled'],
  ['?input=%22a%2Bb%22', 'compiled'],
  ['?input=%22a%20b%22', 'compiled'],
  ['?input="a"', 'compiled'],
  ["?input='a'", 'compiled'],
  ['?input={"a":[1,"<>^`|"]}', 'compiled'],
  ['?input=[1]', 'compiled'],
  ['?input="a\\\\b"', 'compiled'],
  ['?input="a//b/../c"', 'compiled'],
  ['?input="a;b"', 'compiled'],
  ['?input="%26%3D%23%3F"', 'compiled'],
  ['?input=%22%E2%82%AC%22', 'compiled'],
  ['?input=%22%F0%9F%91%8B%22', 'compiled'],
  ['?input=%22%C0%80%22', 'query'],
  ['?input=%22%ED%A0%80%22', 'query'],
  ['?input=%22%FF%22', 'query'],
  ['?input=%22%E2%82%22', 'query'],
  ['?input=%', 'query'],
  ['?input=%2', 'query'],
  ['?input=%zz', 'query'],
  ['?input="100%"', 'query'],
  ['?other=%&input=1', 'compiled'],
  ['?other=%FF&input=1', 'compiled'],
  ['?%=1&input=1', 'query'],
  ['?input=1&%FF', 'query'],
  ['?input=%EF%BB%BF1', 'compiled'],
  ['?input=%00', 'compiled'],
  ['?input=%22%00%22', 'compiled'],
  ['?input=%0A1%0A', 'compiled'],
  ['?input=1;batch=1', 'compiled'],
  ['?input=1&__proto__=2', 'compiled'],
  ['?constructor=1&toString=2&input=3', 'compiled'],
  ['?lastEventId=5&input=1', 'compiled'],
  ['?input[]=1', 'compiled'],
  ['?input[a]=1', 'compiled'],
  [`?input=%22${'x'.repeat(5000)}%22`, 'compiled'],
  [`?${'a=b&'.repeat(500)}input=1`, 'compiled'],
]

/** The same for batches: what `batch` may be, and how many calls that makes. */
const BATCH: readonly (readonly [query: string, on: Path])[] = [
  [`?batch=1&input=${ONE}`, 'compiled'],
  [`?input=${ONE}&batch=1`, 'compiled'],
  [`?batch=%31&input=${ONE}`, 'compiled'],
  [`?batch=%2531&input=${ONE}`, 'procedure'],
  [`?batch=1&batch=2&input=${ONE}`, 'compiled'],
  [`?batch=2&batch=1&input=${ONE}`, 'procedure'],
  [`?batch=true&input=${ONE}`, 'procedure'],
  [`?batch=+1&input=${ONE}`, 'procedure'],
  [`?batch=01&input=${ONE}`, 'procedure'],
  [`?batch=1.0&input=${ONE}`, 'procedure'],
  [`?batch=&input=${ONE}`, 'procedure'],
  [`?batch&input=${ONE}`, 'procedure'],
  [`?Batch=1&input=${ONE}`, 'procedure'],
  [`?batch=%&input=${ONE}`, 'query'],
  [`?batch=%FF&input=${ONE}`, 'query'],
  ['?batch=1', 'compiled'],
  ['?batch=1&input=', 'compiled'],
  ['?batch=1&input=null', 'compiled'],
  ['?batch=1&input=1', 'compiled'],
  ['?batch=1&input="text"', 'compiled'],
  ['?batch=1&input=[1,2]', 'compiled'],
  ['?batch=1&input={}', 'compiled'],
  ['?batch=1&input={"1":2}', 'compiled'],
  ['?batch=1&input={"0":1,"1":2,"2":3,"7":8}', 'compiled'],
  ['?batch=1&input={"00":1,"01":2,"-1":3}', 'compiled'],
  ['?batch=1&input={"0":null,"1":false}', 'compiled'],
  ['?batch=1&input={"__proto__":{"0":1,"1":2}}', 'compiled'],
  ['?batch=1&input={"__proto__":[1,2]}', 'compiled'],
  ['?batch=1&input={"constructor":1,"length":2,"0":3}', 'compiled'],
  ['?batch=1&input={"0":1,"0":2}', 'compiled'],
  ['?batch=1&input={', 'compiled'],
  ['?batch=1&input=undefined', 'compiled'],
]

describe('query strings', () => {
  const comparison = compare((recorder) => echoMount(recorder))
  const requests: ComparedRequest[] = [
    ...SINGLE.flatMap(([query, on]): ComparedRequest[] => [
      { url: `/trpc/query${query}`, on },
      { url: `/trpc/blind${query}`, on },
      { method: 'POST', url: `/trpc/mutation${query}`, headers: JSON_TYPE, body: '{"of":"the body"}', on },
    ]),
    ...BATCH.map(([query, on]) => ({ url: `/trpc/query,plain${query}`, on })),
    ...BATCH.map(([query, on]) => {
      const [parameters, input = ''] = query.split(/[?&]input=/)
      const url = `/trpc/mutation,mutation${parameters?.startsWith('?') ? parameters : '?'}${query.startsWith('?input') ? 'batch=1' : ''}`
      const body = decodeURIComponent(input.split('&')[0]!)
      return { method: 'POST', url, headers: JSON_TYPE, body, on: body === '' ? ON_EMPTY_BODY : on } as const
    }),
    { url: '/trpc/query?input=1&connectionParams=%7B%7D', on: 'compiled' },
    { url: '/trpc/query?connectionParams', on: 'query' },
    { url: '/trpc/query?connectionParams=%7B%22a%22%3A%22b%22%7D', on: 'compiled' },
    { url: '/trpc/query?connectionParams=%7B', on: 'query' },
    { url: '/trpc/query?%63onnectionParams=%7B', on: 'query' },
  ]
  it.each(titled(andStreamed(requests)))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

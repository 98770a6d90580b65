import { describe, it } from 'vitest'
import { compare, type ComparedRequest, titled } from '../../helpers/differential/compare.ts'
import { andStreamed, JSON_TYPE, ON_EMPTY_BODY } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC, observedWithMeta } from '../../helpers/differential/router.ts'

/** Values that clients may send as JSON. */
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  -1.5,
  1e21,
  1e-7,
  2 ** 53,
  '',
  ' ',
  'a',
  'a b+c%20d&e=f#g?h/i\\j',
  '"quoted"',
  "it's",
  '\n\t\u0000\u001F\u007F',
  'ünïcödé',
  '日本語',
  '👩‍👩‍👧‍👦',
  '\u2028\u2029\uFEFF',
  '\uFFFD',
  'x'.repeat(5000),
  'é'.repeat(3000),
  [],
  [1, 'two', null, [3]],
  {},
  { a: 1 },
  { '': 1 },
  { 'a b': { 'c.d': ['e'] } },
  { input: 'input', batch: 1 },
  { '0': 'zero', '1': 'one' },
  // oxlint-disable-next-line unicorn/no-thenable -- clients may send it
  { then: 'not a promise' },
  { toString: 'x', constructor: 'y' },
  { length: 3 },
  Array.from({ length: 200 }, (_, index) => ({ index })),
]

/** Texts that are not what `JSON.stringify` gives. */
const TEXTS: readonly string[] = [
  '',
  ' ',
  'undefined',
  'NaN',
  '{',
  '}',
  '[1,]',
  '{"a":1,}',
  '{a:1}',
  "'a'",
  'tru',
  '01',
  '1 2',
  '"unfinished',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\ud83d\\ude00"',
  '"\\u0000"',
  '"\u0001"',
  ' {"a" : 1 } ',
  '\t[1]\r\n',
  '{"a":1,"a":2}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '1e400',
  '123456789012345678901234567890',
  '[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]',
  `${'['.repeat(300)}${']'.repeat(300)}`,
  '{"json":{"a":1},"meta":{"values":{"a":["Date"]}}}',
  '\uFEFF{"a":1}',
  '\uFEFF',
  '\uFEFF\uFEFF1',
  '{"0":1}',
  '{"0":null}',
  '{"0":{"0":1}}',
]

const texts = [...new Set([...VALUES.map((value) => JSON.stringify(value)), ...TEXTS])]

function requestsWith(text: string): ComparedRequest[] {
  const shown = text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text
  const input = encodeURIComponent(text)
  const posted = text === '' ? ON_EMPTY_BODY : text.startsWith('\uFEFF') ? 'body' : 'compiled'
  return [
    { name: `query ${shown}`, url: `/trpc/query?input=${input}`, on: 'compiled' },
    {
      name: `mutation ${shown}`,
      method: 'POST',
      url: '/trpc/mutation',
      headers: JSON_TYPE,
      body: text,
      on: posted,
    },
    { name: `raw query ${shown}`, url: `/trpc/rawQuery?input=${input}`, on: 'compiled' },
    { name: `batch input ${shown}`, url: `/trpc/query,rawQuery?batch=1&input=${input}`, on: 'compiled' },
    {
      name: `batch body ${shown}`,
      method: 'POST',
      url: '/trpc/mutation,mutation?batch=1',
      headers: JSON_TYPE,
      body: text,
      on: posted,
    },
  ]
}

describe.each([
  ['alone', observed],
  ['with responseMeta', observedWithMeta],
])('inputs, %s', (_, options) => {
  const comparison = compare((recorder) => {
    const t = observedTRPC(recorder)
    const any = t.procedure.input((value) => value)
    const router = t.router({
      query: any.query((call) => {
        recorder.seeCall('query', call)
        return { input: call.input }
      }),
      mutation: any.mutation((call) => {
        recorder.seeCall('mutation', call)
        return { input: call.input }
      }),
      rawQuery: t.procedure
        .use(async (call) => {
          recorder.see('raw', await call.getRawInput(), call.batchIndex)
          return call.next()
        })
        .query((call) => {
          recorder.seeCall('rawQuery', call)
          return call.path
        }),
    })
    return { router, options: options(recorder) }
  })
  const requests = andStreamed(texts.flatMap(requestsWith))
  it.each(titled(options === observed ? requests : requests.filter((_request, index) => index % 7 === 0)))(
    '%s',
    async (_title, request) => {
      await comparison.request(request)
    },
  )
})

import type { FastifyInstance } from 'fastify'
import { describe, it } from 'vitest'
import { HAS } from '../../helpers/peer-versions.ts'
import { compare, type ComparedRequest, type Path, titled } from '../../helpers/differential/compare.ts'
import { andStreamed, echoMount, ON_EMPTY_BODY } from '../../helpers/differential/requests.ts'

const FORM = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'

/** Older versions of Fastify refuse by themselves what they do not recognize as a type that has a parser. */
const inAnyCase = (on: Path): Path => (HAS.caseInsensitiveContentTypes ? on : 'nothing')
const ON_SPACED: Path = HAS.trimmedContentTypes ? 'compiled' : 'nothing'

/** They also compare `content-length` with the text, in which what is no UTF-8 takes more bytes than it came in. */
const ON_NO_TEXT: Path = HAS.lengthOfBytes ? 'compiled' : 'nothing'

/** Content types with what Fastify and this package make of them in a POST, and in a GET. */
const TYPES: readonly (readonly [type: string, posted: Path, got?: Path])[] = [
  ['application/json', 'compiled'],
  ['application/json;', 'compiled'],
  ['application/json; charset=utf-8', 'compiled'],
  ['application/json;charset=utf-8', 'compiled'],
  ['application/json ; charset=utf-8', 'compiled'],
  ['application/json; charset=latin1', 'compiled'],
  ['application/json; charset="utf-8"', 'compiled'],
  ['Application/JSON', inAnyCase('compiled')],
  ['APPLICATION/JSON; CHARSET=UTF-8', inAnyCase('compiled')],
  [' application/json ', ON_SPACED],
  ['application/json, text/plain', 'nothing', 'content-type'],
  ['application/jsonx', 'nothing', 'content-type'],
  ['application/json+x', 'nothing', 'content-type'],
  ['application/ld+json', 'nothing', 'content-type'],
  ['application/jsonl', 'nothing', 'content-type'],
  ['application/jso', 'nothing', 'content-type'],
  ['xapplication/json', 'nothing', 'content-type'],
  ['text/json', 'nothing', 'content-type'],
  ['text/plain', 'content-type', 'content-type'],
  ['text/plain;application/json', 'content-type', 'content-type'],
  ['text/plain; charset=utf-8', 'content-type', 'content-type'],
  ['multipart/form-data', 'content-type', 'content-type'],
  ['multipart/form-data; boundary=x', 'content-type', 'content-type'],
  ['Multipart/Form-Data; boundary=x', inAnyCase('content-type'), 'content-type'],
  ['application/octet-stream', 'nothing', 'content-type'],
  ['application/x-www-form-urlencoded', 'nothing', 'content-type'],
  ['*/*', 'nothing', 'content-type'],
  ['json', 'nothing', 'content-type'],
  ['', 'nothing', 'content-type'],
]

const BODIES: readonly (readonly [name: string, body: string | Buffer, on: Path])[] = [
  ['an empty text', '', ON_EMPTY_BODY],
  ['a value', '{"a":1}', 'compiled'],
  ['an empty string', '""', 'compiled'],
  ['invalid UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), ON_NO_TEXT],
  ['half of a character', Buffer.from([0x22, 0xe2, 0x82, 0x22]), ON_NO_TEXT],
  ['a surrogate as UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), ON_NO_TEXT],
  ['UTF-16', Buffer.from('"a"', 'utf16le'), 'compiled'],
  ['a byte order mark', Buffer.from('\uFEFF{"a":1}'), 'body'],
  ['two byte order marks', Buffer.from('\uFEFF\uFEFF{"a":1}'), 'body'],
  ['three byte order marks', Buffer.from('\uFEFF\uFEFF\uFEFF1'), 'body'],
  ['a byte order mark alone', Buffer.from('\uFEFF'), 'body'],
  ['zeros', Buffer.alloc(4), 'compiled'],
  ['multibyte text', JSON.stringify('é日👋'.repeat(300)), 'compiled'],
  ['as much as the limit', JSON.stringify('x'.repeat(4998)), 'compiled'],
  ['more than the limit', JSON.stringify('x'.repeat(4999)), 'nothing'],
  ['a form', FORM, 'compiled'],
]

describe('content types', () => {
  const comparison = compare((recorder) => echoMount(recorder))
  const requests = TYPES.flatMap(([type, posted, got = 'compiled']): ComparedRequest[] => {
    const headers = { 'content-type': type }
    const body = type.toLowerCase().startsWith('multipart') ? FORM : '{"a":1}'
    return [
      { method: 'POST', url: '/trpc/mutation', headers, body, on: posted },
      { method: 'POST', url: '/trpc/blindMutation?input=1', headers, body, on: posted },
      {
        method: 'POST',
        url: '/trpc/mutation,mutation?batch=1',
        headers,
        body: body === FORM ? body : '{"0":1}',
        on: posted,
      },
      { url: '/trpc/query?input=1', headers, on: got },
      { method: 'PUT', url: '/trpc/mutation', headers, body, on: posted === 'nothing' ? posted : 'method' },
    ]
  })
  it.each(titled(andStreamed(requests)))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

describe('bodies', () => {
  const comparison = compare((recorder) => echoMount(recorder), { fastify: { bodyLimit: 5000 } })
  const requests = BODIES.flatMap(([name, body, on]): ComparedRequest[] => {
    const headers = { 'content-type': 'application/json' }
    return [
      { name, method: 'POST', url: '/trpc/mutation', headers, body, on },
      { name: `${name} that nobody reads`, method: 'POST', url: '/trpc/blindMutation', headers, body, on },
      { name: `${name} for a batch`, method: 'POST', url: '/trpc/mutation,blindMutation?batch=1', headers, body, on },
      {
        name: `${name} without a type`,
        method: 'POST',
        url: '/trpc/mutation',
        body,
        on: body === '' ? 'content-type' : 'nothing',
      },
    ]
  })
  it.each(titled(andStreamed(requests)))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

describe('headers', () => {
  const comparison = compare((recorder) => echoMount(recorder))
  const accepts: readonly (readonly [accept: string, on: Path])[] = [
    ['*/*', 'compiled'],
    ['application/json', 'compiled'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'compiled'],
    ['text/event-stream', 'compiled'],
    ['application/jsonl', 'stream'],
    ['text/plain, application/jsonl', 'stream'],
    ['text/plain,application/jsonl;q=0.5', 'stream'],
    ['application/jsonlines', 'stream'],
    ['APPLICATION/JSONL', 'compiled'],
    ['', 'compiled'],
  ]
  const requests: ComparedRequest[] = [
    ...accepts.flatMap(([accept, on]): ComparedRequest[] => [
      { url: '/trpc/query?input=1', headers: { accept }, on },
      { method: 'POST', url: '/trpc/mutation', headers: { accept, 'content-type': 'application/json' }, body: '1', on },
    ]),
    ...['application/json', 'application/jsonlx', 'text/plain', ''].flatMap((accept): ComparedRequest[] => [
      { url: '/trpc/query?input=1', headers: { 'trpc-accept': accept }, on: 'stream' },
      { url: '/trpc/query,query?batch=1&input={}', headers: { 'trpc-accept': accept }, on: 'stream' },
    ]),
    { url: '/trpc/query?input=1', headers: { 'trpc-accept': 'application/jsonl' }, on: 'stream' },
    ...[
      'localhost',
      'localhost:3000',
      'example.com',
      'EXAMPLE.com',
      '127.0.0.1',
      '[::1]',
      '[::1]:80',
      'a_b',
      'a-b.c',
      'example.com:443',
      'example.com.',
      'xn--',
    ].map((host): ComparedRequest => ({ url: '/trpc/query?input=1', headers: { host }, on: 'compiled' })),
    ...[
      'a b',
      'a/b',
      'user@host',
      'host:port',
      'host:99999',
      '[::',
      '::1',
      'h\u00F6st',
      'host?',
      'host#',
      '256.256.256.256',
      'a\\b',
      '%61',
      '999999999999',
    ].map((host): ComparedRequest => ({ url: '/trpc/query?input=1', headers: { host }, on: 'host' })),
    {
      url: '/trpc/query',
      headers: { 'x-latin': 'caf\u00E9', cookie: 'a=1; b=2', 'x-list': ['a', 'b'] },
      on: 'compiled',
    },
    { url: '/trpc/query', headers: { 'last-event-id': '5' }, on: 'compiled' },
    { url: '/trpc/query', headers: { 'if-none-match': '*', range: 'bytes=0-1' }, on: 'compiled' },
  ]
  it.each(titled(requests))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

describe('content type parsers of the user', () => {
  const parsers = (reviver: (body: string) => unknown) => ({
    before(app: FastifyInstance) {
      app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
        done(null, reviver(body as string))
      })
      app.addContentTypeParser(/^application\/.+\+json$/, { parseAs: 'string' }, (_request, body, done) =>
        done(null, body),
      )
      app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    },
    after(app: FastifyInstance) {
      app.removeContentTypeParser('application/json')
      app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
        done(null, { of: body }),
      )
    },
  })
  const comparison = compare(
    (recorder) => echoMount(recorder),
    parsers((body) => ({ form: body })),
  )
  const types: (readonly [string, Path])[] = [
    ['application/json', 'compiled'],
    ['application/x-www-form-urlencoded', 'content-type'],
    ['application/ld+json', 'content-type'],
    ['application/octet-stream', 'content-type'],
    ['image/png', 'content-type'],
  ]
  const requests = types.map(([type, on]): ComparedRequest => ({
    method: 'POST',
    url: '/trpc/mutation',
    headers: { 'content-type': type },
    body: '{"a":1}',
    on,
  }))
  it.each(titled(requests))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

describe('bodies that a hook replaced', () => {
  const comparison = compare((recorder) => echoMount(recorder), {
    before(app) {
      app.addHook('preValidation', async (request) => {
        const { replacement } = request.query as { replacement?: string }
        if (replacement) request.body = JSON.parse(replacement)
      })
    },
  })
  const replacements: (readonly [string, Path])[] = [
    ['"{}"', 'compiled'],
    ['"not JSON"', 'compiled'],
    ['"\\"\\ud800\\""', 'body'],
    ['"\\"\\ud83d\\ude00\\""', 'compiled'],
    ['{"a":1}', 'content-type'],
    ['[1]', 'content-type'],
    ['null', 'content-type'],
    ['5', 'content-type'],
  ]
  const requests = replacements.map(([replacement, on]): ComparedRequest => ({
    method: 'POST',
    url: `/trpc/mutation?replacement=${encodeURIComponent(replacement)}`,
    headers: { 'content-type': 'application/json' },
    body: '1',
    on,
  }))
  it.each(titled(requests))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

import type { FastifyServerOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { HAS, routing } from '../../helpers/peer-versions.ts'
import { compare, type ComparedRequest, type Path, titled } from '../../helpers/differential/compare.ts'
import { type Exchange } from '../../helpers/differential/exchange.ts'
import { andStreamed, echoMount, JSON_TYPE } from '../../helpers/differential/requests.ts'

/** Paths after the prefix, with the path that each must take. */
const PATHS: readonly (readonly [path: string, on: Path])[] = [
  ['query', 'compiled'],
  ['nested.query', 'compiled'],
  ['nested.deeper.query', 'compiled'],
  ['with%20space', 'compiled'],
  ['%C3%BCn%C3%AFc%C3%B6d%C3%A9', 'compiled'],
  ['a+b', 'compiled'],
  ['a%2Bb', 'compiled'],
  ['a%25b', 'path'],
  ['a%2525b', 'path'],
  ['%71uery', 'compiled'],
  ['%2571uery', 'path'],
  ['quer%79', 'compiled'],
  ['query%00', 'procedure'],
  ['query%2E', 'procedure'],
  ['nested%2Equery', 'compiled'],
  ['nested%2Fquery', 'procedure'],
  ['query%3Finput=1', 'procedure'],
  ['query%23', 'procedure'],
  ['query;input=1', 'procedure'],
  ['', 'procedure'],
  ['.', 'procedure'],
  ['..', 'nothing'],
  ['.query', 'procedure'],
  ['query.', 'procedure'],
  ['nested', 'procedure'],
  ['nested.', 'procedure'],
  ['nested..query', 'procedure'],
  ['nested.deeper', 'procedure'],
  ['Upper', 'compiled'],
  ['upper', 'compiled'],
  ['UPPER', 'procedure'],
  ['Query', 'procedure'],
  ['unknown', 'procedure'],
  ['constructor', 'procedure'],
  ['__proto__', 'procedure'],
  ['toString', 'procedure'],
  ['hasOwnProperty', 'procedure'],
  ['valueOf', 'procedure'],
  ['then', 'procedure'],
  ['createCaller', 'procedure'],
  ['_def', 'procedure'],
  ['_def.procedures.query', 'procedure'],
  ['nested.constructor', 'procedure'],
  ['query.apply', 'procedure'],
  ['query,plain', 'procedure'],
  ['query~x', 'procedure'],
  ['nested~query', 'procedure'],
  ['x'.repeat(90), 'procedure'],
  ['%F0%9F%91%8B', 'procedure'],
  ['%25', 'path'],
  ['%2525', 'path'],
  ['%25FF', 'path'],
  ['%25zz', 'path'],
  ['subscription,query', 'procedure'],
]

/** What Fastify answers by itself. */
const ELSEWHERE: readonly string[] = ['query/', 'query/more', '%', '%zz', '%FF', 'x'.repeat(200), '/query', 'query//']

/** Paths of a batch. */
const BATCHES: readonly (readonly [path: string, on: Path])[] = [
  ['query', 'compiled'],
  ['query,query', 'compiled'],
  ['query,query,query,query,query,query,query,query', 'compiled'],
  ['query,plain,failing,blind', 'compiled'],
  ['failing,failing', 'compiled'],
  ['query%2Cplain', 'compiled'],
  ['nested.query,nested.deeper.query', 'compiled'],
  ['query,', 'procedure'],
  [',query', 'procedure'],
  [',', 'procedure'],
  ['', 'procedure'],
  ['query,unknown', 'procedure'],
  ['unknown,query', 'procedure'],
  ['unknown,other', 'procedure'],
  ['query,__proto__,constructor', 'procedure'],
  ['query,%71uery', 'compiled'],
  ['query, plain', 'procedure'],
  ['query,mutation', 'batch'],
  ['mutation,query', 'batch'],
  ['mutation', 'method'],
  ['mutation,mutation', 'method'],
  ['query,subscription', 'subscription'],
  ['subscription', 'subscription'],
  ['unknown,mutation,query', 'procedure'],
]

function requestsOf(prefix: string): ComparedRequest[] {
  return [
    ...PATHS.map(([path, on]) => ({ url: `${prefix}/${path}`, on })),
    ...PATHS.map(([path, on]) => ({ url: `${prefix}/${path}?input=%7B%22a%22%3A1%7D`, on })),
    ...ELSEWHERE.map((path) => ({ url: `${prefix}/${path}`, on: 'nothing' as const })),
    ...BATCHES.map(([path, on]) => ({
      url: `${prefix}/${path}?batch=1&input=%7B%220%22:1,%221%22:2,%222%22:3%7D`,
      on,
    })),
    ...BATCHES.map(([path, on]) => {
      const names = path.split(',')
      const isMutation = names.every((name) => name === 'mutation')
      const isQuery = on === 'compiled'
      const posted: Path = isMutation ? 'compiled' : isQuery ? 'method' : on
      return {
        method: 'POST',
        url: `${prefix}/${path}?batch=1`,
        headers: JSON_TYPE,
        body: '{"0":1,"1":{"a":2}}',
        on: posted,
      } as const
    }),
  ]
}

describe('paths', () => {
  const comparison = compare((recorder) => echoMount(recorder))
  it.each(titled(andStreamed(requestsOf('/trpc'))))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

describe('paths with a separator', () => {
  const comparison = compare((recorder) => echoMount(recorder, {}, { pathSeparator: '~' }))
  // An older tRPC does not know it, and finds no such procedure.
  const onSeparated: Path = HAS.pathSeparator ? 'compiled' : 'procedure'
  const paths: (readonly [string, Path])[] = [
    ['query', 'compiled'],
    ['nested~query', onSeparated],
    ['nested%7Equery', onSeparated],
    ['nested.query', 'compiled'],
    ['nested~deeper~query', onSeparated],
    ['nested~deeper.query', onSeparated],
    ['nested~', 'procedure'],
    ['~query', 'procedure'],
    ['nested~~query', 'procedure'],
    ['nested_query', 'procedure'],
    ['nested%257Equery', 'path'],
  ]
  const requests = [
    ...paths.map(([path, on]) => ({ url: `/trpc/${path}?input=1`, on })),
    ...paths.map(([path, on]) => ({ url: `/trpc/query,${path}?batch=1&input=%7B%7D`, on })),
  ]
  it.each(titled(andStreamed(requests)))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

/** Options of Fastify, each with a URL and the status that only this option gives it. */
const ROUTERS: readonly (readonly [string, FastifyServerOptions, url: string, status: number])[] = [
  ['case does not count', routing({ caseSensitive: false }), '/TRPC/query', 200],
  ['trailing slashes do not count', routing({ ignoreTrailingSlash: true }), '/trpc/query/', 200],
  ['double slashes do not count', routing({ ignoreDuplicateSlashes: true }), '/trpc//query', 200],
  ['semicolons delimit', { useSemicolonDelimiter: true }, '/trpc/query;input=1', 200],
  ['parameters are short', routing({ maxParamLength: 6 }), '/trpc/mutation', HAS.longParameterError ? 414 : 404],
]

describe.each(ROUTERS)('paths where %s', (_, fastify, special, status) => {
  const comparison = compare((recorder) => echoMount(recorder), { fastify })
  const urls = [
    '/trpc/query',
    '/TRPC/query',
    '/trpc/QUERY',
    '/trpc/Upper',
    '/trpc/query/',
    '/trpc//query',
    '//trpc/query',
    '/trpc/query;input=1',
    '/trpc/query;a?input=1',
    '/trpc/query?input=1;2',
    '/trpc/mutation',
    '/trpc/query,plain/?batch=1&input=%7B%220%22:1%7D',
  ]
  const ask = (url: string): Promise<Exchange> =>
    comparison.exchange(async (app) => {
      const { statusCode, headers, body } = await app.inject(url)
      return { status: statusCode, headers, body }
    })
  it.each(urls)('%s', async (url) => {
    await ask(url)
  })
  it('the option has its effect', async () => {
    const answer = await ask(special)
    expect(answer.status).toBe(status)
  })
})

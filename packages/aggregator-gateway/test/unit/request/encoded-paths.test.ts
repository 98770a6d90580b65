import { describe, expect, it } from 'vitest'
import { hasSeparator, isSuspect, pathEscapeOf } from '../../../src/request/path-traversal.ts'
import type { CallOptions } from '../../../src/index.ts'
import { gatewayOf, jsonUpstream } from '../../helpers/servers.ts'

describe('a path that leaves its place', () => {
  it.each([
    ['/public/..', 'has a dot segment'],
    ['/public/../secret', 'has a dot segment'],
    ['/public/.', 'has a dot segment'],
    ['/public/%2e%2E', 'has a dot segment'],
    ['/public/..%2fsecret', 'has a dot segment'],
    ['/public/..%5csecret', 'has a dot segment'],
    ['/public/..\\secret', 'has a dot segment'],
    ['/public/%252e%252e%252fsecret', 'has a dot segment'],
    ['/public/%25252e%25252e', 'has a dot segment'],
    ['/public/..;/secret', 'has a dot segment'],
    ['/public/..;a=b%2fsecret', 'has a dot segment'],
    ['/public/..%3b%2fsecret', 'has a dot segment'],
    ['/public/..%20/secret', 'has a dot segment'],
    ['/public/..%3fsecret', 'has a dot segment'],
    ['/public/..%23secret', 'has a dot segment'],
    ['/public/%c0%ae%c0%ae%c0%afsecret', 'has a dot segment'],
    ['/public/%e0%80%ae%e0%80%ae', 'has a dot segment'],
    ['/public/%u002e%u002e%u2215', undefined],
    ['/public/%u002e%u002e%u002fsecret', 'has a dot segment'],
    ['/public/．．／secret', 'has a dot segment'],
    ['/public/%EF%BC%8E%EF%BC%8E', 'has a dot segment'],
    ['/public/%25EF%25BC%258E%25EF%25BC%258E', 'has a dot segment'],
    ['/public/a%EF%BC%8F%EF%BC%8E%EF%BC%8E%EF%BC%8Fsecret', 'has a dot segment'],
    ['/public/%EF%BC%8E%EF%BC%8E%EF%BC%9Ba', 'has a dot segment'],
    ['/public/%E2%80%A5', 'has a dot segment'],
    ['/public/a%00', 'has a control character'],
    ['/public/..%09/secret', 'has a control character'],
    ['/public/a%2500', 'has a control character'],
    ['/public/%2525252525252561', 'is encoded too often'],
    ['/public/a', undefined],
    ['/public/...', undefined],
    ['/public/.a', undefined],
    ['/public/a..b', undefined],
    ['/public/100%25', undefined],
    ['/public/%C3%A9', undefined],
    ['/public/%C3%A9.%F0%9F%98%80', undefined],
    ['/public/%E6%9D%B1%E4%BA%AC%EF%BC%8E%E2%80%A6', undefined],
    ['/public/a%2Fb', undefined],
  ])('%s: %s', (path, escape) => {
    expect(pathEscapeOf(path)).toBe(escape)
  })
})

it.each(['a/b', 'a\\b', 'a%2fb', 'a%5Cb', 'a%252fb', 'a／b', 'a%EF%BC%8Fb', 'a%25EF%25BC%25BCb'])(
  'finds the separator of %s',
  (value) => {
    expect([hasSeparator(value), isSuspect(value)]).toEqual([true, true])
  },
)

it('takes time in proportion to the length', () => {
  const before = process.cpuUsage().user
  for (const part of ['%25', '../', '%c0', ';', ' ', '%u00', '．', '%2e', '%EF%BC%8E', '%C3'])
    pathEscapeOf(`/a${part.repeat(200_000)}`)
  expect(process.cpuUsage().user - before).toBeLessThan(5_000_000)
})

describe('a value of a path', () => {
  const ask = async (url: string, call: Partial<CallOptions> = {}): Promise<unknown[]> => {
    const asked: string[] = []
    const origin = await jsonUpstream((path) => asked.push(path))
    const app = await gatewayOf(origin, { one: { path: '/public/{params.id}', ...call } }, { path: '/users/:id' })
    const { statusCode } = await app.inject(url)
    return [statusCode, ...asked]
  }

  it.each([
    'a%2Fb',
    'a%5Cb',
    'a%252Fb',
    '..%2Fsecret',
    '%EF%BC%8E%EF%BC%8E',
    'a%EF%BC%8Fb',
    '%252e%252e',
    '..%3B',
    'a%00',
    'a%0D%0AX:%20y',
  ])('is refused with 400: %s', async (value) => {
    expect(await ask(`/users/${value}`)).toEqual([400])
  })

  it('may have a slash with `allowEncodedSlash`, and no dot segment', async () => {
    const call = { allowEncodedSlash: true }
    expect(await ask('/users/a%2Fb', call)).toEqual([200, '/public/a%2Fb'])
    expect(await ask('/users/a%5Cb', call)).toEqual([200, '/public/a%5Cb'])
    expect(await ask('/users/a%2F..%2Fb', call)).toEqual([400])
    expect(await ask('/users/a%2F.%2Fb', call)).toEqual([400])
    expect(await ask('/users/a%EF%BC%8F%EF%BC%8E%EF%BC%8E%EF%BC%8Fb', call)).toEqual([400])
  })

  it('forms no dot segment with the text beside it', async () => {
    expect(await ask('/users/%20', { path: '/public/.{params.id}' })).toEqual([400])
    expect(await ask('/users/;x', { path: '/public/.{params.id}' })).toEqual([400])
  })

  it.each(['/public/%2{params.id}', '/public/%{params.id}', '/public/../{params.id}', '/public/..%2f{params.id}'])(
    'completes no escape of its template, which is refused at start: %s',
    async (path) => {
      await expect(ask('/users/e', { path })).rejects.toMatchObject({ code: 'AGGREGATOR_GATEWAY_INVALID_OPTION' })
    },
  )
})

it('fails a dependent call, without a 400, when it comes from an upstream', async () => {
  const asked: string[] = []
  const origin = await jsonUpstream((path) => {
    asked.push(path)
    return { next: '../secret' }
  })
  const app = await gatewayOf(origin, {
    one: { path: '/one' },
    two: { path: '/public/{calls.one.next}', optional: true },
  })
  const { statusCode, headers } = await app.inject('/')
  expect([statusCode, headers['x-gateway-missing'], asked]).toEqual([200, 'two;reason=dependency', ['/one']])
})

describe('forwarded query parameters of a call', () => {
  it('are forwarded unchanged, repeated ones included', async () => {
    const asked: string[] = []
    const origin = await jsonUpstream((path) => asked.push(path))
    const app = await gatewayOf(origin, { one: { path: '/a?b=c', forwardQuery: ['ids', 'q', 'missing'] } })
    await app.inject('/?ids=1&ids=2%263&q=&secret=1')
    expect(asked).toEqual(['/a?b=c&ids=1&ids=2%263&q='])
  })
})

describe('an endpoint whose calls are all optional', () => {
  const failing = async (endpoint: { allowAllFailed?: boolean } = {}) => {
    const origin = await jsonUpstream(() => 1)
    const app = await gatewayOf(
      origin.replace(/\d+$/, '1'),
      { one: { path: '/', optional: true }, two: { path: '/{calls.one}', optional: true } },
      endpoint,
    )
    const { statusCode, headers, body } = await app.inject('/')
    return [statusCode, headers['x-gateway-complete'], headers['x-gateway-missing'], body]
  }

  it('responds 502 when all have failed, with the calls and reasons', async () => {
    expect(await failing()).toEqual([
      502,
      'false',
      'one;reason=connection, two;reason=dependency',
      expect.stringContaining('AGGREGATOR_GATEWAY_UPSTREAM_FAILED'),
    ])
  })

  it('responds 200 with `allowAllFailed`', async () => {
    expect(await failing({ allowAllFailed: true })).toEqual([
      200,
      'false',
      'one;reason=connection, two;reason=dependency',
      '{"one":null,"two":null}',
    ])
  })
})

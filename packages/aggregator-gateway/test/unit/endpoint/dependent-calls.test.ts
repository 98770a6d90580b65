import { expect, it } from 'vitest'
import { gatewayOf, jsonUpstream } from '../../helpers/servers.ts'

it('makes calls in parallel, and dependent calls as early as possible', async () => {
  const seen: string[] = []
  const origin = await jsonUpstream((path) => {
    seen.push(path)
    return path === '/profile' ? { account: { id: 7 }, name: 'Ada & Co' } : path
  })
  const app = await gatewayOf(origin, {
    invoices: { path: '/invoices/{calls.profile.account.id}' },
    profile: { path: '/profile' },
    news: { path: '/news' },
    both: { path: '/both?of={calls.profile.name}&and={calls.invoices}' },
  })
  expect((await app.inject('/')).json()).toEqual({
    invoices: '/invoices/7',
    profile: { account: { id: 7 }, name: 'Ada & Co' },
    news: '/news',
    both: '/both?of=Ada%20%26%20Co&and=%2Finvoices%2F7',
  })
  expect(seen.slice(0, 2).toSorted()).toEqual(['/news', '/profile'])
  expect(seen.indexOf('/invoices/7')).toBeGreaterThan(seen.indexOf('/profile'))
})

it('uses large numbers unchanged', async () => {
  const origin = await jsonUpstream((path) =>
    path === '/one'
      ? (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON('12345678901234567890')
      : path,
  )
  const app = await gatewayOf(origin, { one: { path: '/one' }, two: { path: '/two/{calls.one}' } })
  expect((await app.inject('/')).body).toBe('{"one":12345678901234567890,"two":"/two/12345678901234567890"}')
})

it.each([
  ['is missing', '{calls.one.nothing}', '{calls.one.nothing} is missing'],
  ['is an object', '{calls.one}', '{calls.one} is no single value'],
  ['is null', '{calls.one.nothing1}', '{calls.one.nothing1} is null'],
  ['is empty', '{calls.one.empty}', '{calls.one.empty} is empty'],
])('does not make a call whose value %s', async (_title, place, message) => {
  const origin = await jsonUpstream(() => ({ nothing1: null, empty: '' }))
  const app = await gatewayOf(origin, { one: { path: '/one' }, two: { path: `/two/${place}` } })
  const { statusCode, json } = await app.inject('/')
  expect([statusCode, json<{ message: string }>().message]).toEqual([
    502,
    `The call "two" to it was not called: ${message}`,
  ])
})

it('omits optional calls that depend on a failed one', async () => {
  const origin = await jsonUpstream(() => 'text')
  const app = await gatewayOf(origin, {
    one: { path: '/one', optional: true, target: 'nothing' },
    two: { path: '/two/{calls.one}', optional: true },
    three: { path: '/three' },
  })
  const { headers, json } = await app.inject('/')
  expect(json()).toEqual({ one: null, two: null, three: 'text' })
  expect(headers['x-gateway-missing']).toBe('one;reason=body, two;reason=dependency')
})

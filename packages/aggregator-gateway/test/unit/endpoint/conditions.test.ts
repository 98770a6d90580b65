import { describe, expect, it } from 'vitest'
import type { Condition, CallOptions } from '../../../src/index.ts'
import { gatewayOf, jsonUpstream } from '../../helpers/servers.ts'

type Call = Omit<CallOptions, 'upstream'>

/** The paths that the upstream gets, and the response. */
async function calling(calls: Record<string, Call>, url = '/', values: Record<string, unknown> = {}) {
  const seen: string[] = []
  const origin = await jsonUpstream((path) => {
    seen.push(path)
    return path in values ? values[path] : path
  })
  const app = await gatewayOf(origin, calls)
  const { statusCode, headers, json } = await app.inject(url)
  return { seen, statusCode, headers, body: json<Record<string, unknown>>() }
}

describe('a condition on the request', () => {
  it.each<[when: Condition | Condition[], url: string, isMade: boolean]>([
    ['{query.full}', '/', false],
    ['{query.full}', '/?full', false],
    ['{query.full}', '/?full=false', false],
    ['{query.full}', '/?full=1', true],
    ['{query.full}', '/?full=1&full=2', true],
    ['!{query.full}', '/', true],
    ['!{query.full}', '/?full=1', false],
    [{ value: '{query.plan}', in: ['pro', 7, true] }, '/?plan=pro', true],
    [{ value: '{query.plan}', in: ['pro', 7, true] }, '/?plan=7', true],
    [{ value: '{query.plan}', in: ['pro', 7, true] }, '/?plan=true', true],
    [{ value: '{query.plan}', in: ['pro', 7, true] }, '/?plan=free', false],
    [{ value: '{query.plan}', in: ['pro'] }, '/', false],
    [{ value: '{query.plan}', in: ['pro', null] }, '/', true],
    [{ value: '{query.plan}', notIn: ['pro'] }, '/', true],
    [{ value: '{query.plan}', notIn: ['pro', null] }, '/', false],
    [{ value: '{query.plan}', notIn: ['pro'] }, '/?plan=pro', false],
    [['{query.a}', '{query.b}'], '/?a=1', false],
    [['{query.a}', '{query.b}'], '/?a=1&b=1', true],
    [{ value: '{headers.x-beta}', in: ['1'] }, '/', false],
    // Members of prototypes are no values.
    ['{query.constructor}', '/', false],
    ['{user.sub}', '/', false],
  ])('%j at %s: %s', async (when, url, isMade) => {
    const { seen, statusCode, headers, body } = await calling(
      { one: { path: '/one', when }, two: { path: '/two' } },
      url,
    )
    expect([statusCode, body]).toEqual([200, { one: isMade ? '/one' : null, two: '/two' }])
    expect(seen.includes('/one')).toBe(isMade)
    expect(headers['x-gateway-missing']).toBeUndefined()
  })

  it('spares the values that only the call needs', async () => {
    const call = { path: '/{query.id}', when: '{query.id}', headers: { 'x-user': '{user.sub}' } }
    expect(await calling({ one: call, two: { path: '/two' } })).toMatchObject({
      statusCode: 200,
      seen: ['/two'],
      body: { one: null, two: '/two' },
    })
  })

  it('may exclude all calls', async () => {
    expect(await calling({ one: { path: '/one', when: '{query.a}', optional: true } })).toMatchObject({
      statusCode: 200,
      headers: { 'x-gateway-complete': 'true' },
      body: { one: null },
    })
  })
})

describe('a condition on a response', () => {
  const profile: Call = { path: '/profile' }

  it.each<[when: Condition | Condition[], value: unknown, isMade: boolean]>([
    ['{calls.profile.isMember}', { isMember: true }, true],
    ['{calls.profile.isMember}', { isMember: false }, false],
    ['{calls.profile.isMember}', {}, false],
    ['{calls.profile.isMember}', null, false],
    ['{calls.profile.address}', { address: {} }, true],
    ['{calls.profile.name.first}', { name: 'x' }, false],
    [{ value: '{calls.profile.plan}', in: ['pro'] }, { plan: 'pro' }, true],
    [{ value: '{calls.profile.plan}', in: ['pro'] }, { plan: ['pro'] }, false],
    [{ value: '{calls.profile.count}', notIn: [0] }, { count: 0 }, false],
    [{ value: '{calls.profile.count}', in: [0] }, { count: 0 }, true],
    [['{calls.profile.plan}', '{query.a}'], { plan: 1 }, false],
  ])('%j of %j: %s', async (when, value, isMade) => {
    const { body, statusCode } = await calling({ profile, one: { path: '/one', when } }, '/', { '/profile': value })
    expect([statusCode, body['one']]).toEqual([200, isMade ? '/one' : null])
  })

  it('sees a failed optional call as a missing value', async () => {
    const { body } = await calling({
      profile: { path: '/profile', optional: true, target: 'nothing' },
      one: { path: '/one', when: { value: '{calls.profile}', in: [null] } },
    })
    expect(body).toEqual({ profile: null, one: '/one' })
  })
})

it('a call that needs a value of an excluded call is excluded, too', async () => {
  const { body, statusCode, headers, seen } = await calling({
    one: { path: '/one', when: '{query.a}' },
    two: { path: '/two/{calls.one}' },
    three: { path: '/three/{item}', forEach: '{calls.two}' },
    four: { path: '/four', when: { value: '{calls.three}', in: [null] } },
    five: { path: '/five', optional: true },
  })
  expect([statusCode, body]).toEqual([200, { one: null, two: null, three: null, four: '/four', five: '/five' }])
  expect(seen.toSorted()).toEqual(['/five', '/four'])
  expect(headers['x-gateway-complete']).toBe('true')
})

it('excludes calls for all items of a list', async () => {
  const call = { path: '/{item}', forEach: '{query.id}', when: '{query.full}' }
  expect((await calling({ one: call }, '/?id=1')).body).toEqual({ one: null })
  expect((await calling({ one: call }, '/?id=1&full=1')).body).toEqual({ one: ['/1'] })
})

it('an excluded call does not keep a request from being admitted', async () => {
  const { body } = await calling({
    one: { path: '/one', when: '{query.a}' },
    two: { path: '/two', when: '!{query.a}' },
  })
  expect(body).toEqual({ one: null, two: '/two' })
})

import { expect, it } from 'vitest'
import type { MappingOptions } from '../../../src/index.ts'
import { gatewayOf, jsonUpstream } from '../../helpers/servers.ts'

const ANSWER = {
  meta: { page: 1 },
  items: [
    { id: 1, name: 'a', secret: 's', owner: { name: 'x', mail: 'x@y' } },
    { id: 2, name: 'b', secret: 't', owner: { name: 'z', mail: 'z@y' } },
  ],
}

it.each<[title: string, mapping: MappingOptions, expected: unknown]>([
  ['a target', { target: 'meta.page' }, 1],
  ['members that are picked', { pick: ['meta'] }, { meta: { page: 1 } }],
  ['members of the elements of an array', { target: 'items', pick: ['id'] }, [{ id: 1 }, { id: 2 }]],
  [
    'paths that are picked',
    { pick: ['items.owner.name', 'items.id'] },
    {
      items: [
        { id: 1, owner: { name: 'x' } },
        { id: 2, owner: { name: 'z' } },
      ],
    },
  ],
  ['a path, and a part of it', { pick: ['meta.page', 'meta'] }, { meta: { page: 1 } }],
  ['what is not there', { pick: ['nothing', 'meta.nothing'] }, { meta: {} }],
  ['members that are left out', { omit: ['items'] }, { meta: { page: 1 } }],
  [
    'paths that are left out',
    { target: 'items', omit: ['secret', 'owner.mail', 'name'] },
    [
      { id: 1, owner: { name: 'x' } },
      { id: 2, owner: { name: 'z' } },
    ],
  ],
  ['new names', { pick: ['meta'], rename: { meta: 'about' } }, { about: { page: 1 } }],
  ['what one member holds', { pick: ['items.id'], unwrap: true }, { items: [{ id: 1 }, { id: 2 }] }],
  ['what one member holds, of a target', { target: 'meta', unwrap: true }, 1],
])('takes %s', async (_title, mapping, expected) => {
  const app = await gatewayOf(await jsonUpstream(() => ANSWER), { one: { path: '/', ...mapping } })
  expect((await app.inject('/')).json()).toEqual({ one: expected })
})

it('fails without the target', async () => {
  const app = await gatewayOf(await jsonUpstream(() => ANSWER), { one: { path: '/', target: 'meta.nothing' } })
  const { statusCode, json } = await app.inject('/')
  expect([statusCode, json<{ message: string }>().message]).toEqual([
    502,
    'The call "one" to it responded with a body that has no meta.nothing',
  ])
})

it('maps members with the names of Object.prototype', async () => {
  const app = await gatewayOf(
    await jsonUpstream(() => JSON.parse('{"__proto__":{"a":1},"constructor":2,"b":3}') as unknown),
    { one: { path: '/', omit: ['b'] } },
  )
  expect((await app.inject('/')).body).toBe('{"one":{"__proto__":{"a":1},"constructor":2}}')
})

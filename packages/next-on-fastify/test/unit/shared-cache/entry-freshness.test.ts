import { describe, expect, it } from 'vitest'
import { FIRST_POSITION } from '../../../src/shared-cache/store-contract.ts'
import { Revalidations } from '../../../src/shared-cache/entry-freshness.ts'

const AT = 1_700_000_000_000
const at = (offset: number): number => FIRST_POSITION + offset
const made = (since: number, ...tags: string[]): { key: string; tags: string[]; since: number } => ({
  key: '/page',
  tags,
  since: at(since),
})

describe('an entry with a revalidated tag', () => {
  it('is not shown if it was begun before, whenever it ended', () => {
    const revalidations = new Revalidations()
    revalidations.add({ by: 'me', tags: ['a', 'b'], at: AT }, at(10))
    const expired = (since: number, ...tags: string[]): boolean => revalidations.isExpired(made(since, ...tags), AT)
    expect([expired(9, 'a'), expired(9, 'c', 'b'), expired(9, 'c'), expired(10, 'a'), expired(11, 'b')]).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })

  it('may be stale, until it expires', () => {
    const revalidations = new Revalidations()
    revalidations.add({ by: 'me', tags: ['a'], at: AT, stale: true, expireAt: AT + 1000 }, at(10))
    const old = made(9, 'a')
    expect([revalidations.isExpired(old, AT + 999), revalidations.staleAt(old)]).toEqual([false, AT])
    expect(revalidations.isExpired(old, AT + 1000)).toBe(true)
    expect(revalidations.affects(old, AT)).toBe(true)
    const fresh = made(10, 'a')
    expect([revalidations.isExpired(fresh, AT + 1000), revalidations.staleAt(fresh)]).toEqual([false, undefined])
    expect(revalidations.affects(fresh, AT)).toBe(false)
  })

  it('may be stale for good', () => {
    const revalidations = new Revalidations()
    revalidations.add({ by: 'me', tags: ['a'], at: AT, stale: true }, at(10))
    expect(revalidations.isExpired(made(9, 'a'), Number.MAX_SAFE_INTEGER)).toBe(false)
  })

  it('does not come back when the tag is stale once more', () => {
    const revalidations = new Revalidations()
    revalidations.add({ by: 'me', tags: ['a'], at: AT, stale: true, expireAt: AT + 1000 }, at(10))
    revalidations.add({ by: 'me', tags: ['a'], at: AT + 2000, stale: true, expireAt: AT + 9000 }, at(20))
    const now = AT + 3000
    expect([revalidations.isExpired(made(9, 'a'), now), revalidations.isExpired(made(15, 'a'), now)]).toEqual([
      true,
      false,
    ])
    // The first of two terms that run holds.
    revalidations.add({ by: 'me', tags: ['a'], at: AT + 4000, stale: true, expireAt: AT + 99_000 }, at(30))
    expect(revalidations.isExpired(made(15, 'a'), AT + 9000)).toBe(true)
  })
})

it('expires if the page was regenerated on demand later', () => {
  const revalidations = new Revalidations()
  revalidations.add({ by: 'me', page: '/page', since: at(20) }, at(30))
  // One that was begun earlier, and ended later.
  revalidations.add({ by: 'me', page: '/page', since: at(5) }, at(40))
  expect([19, 20].map((since) => revalidations.isExpired(made(since), AT))).toEqual([true, false])
  expect(revalidations.isExpired({ ...made(19), key: '/other' }, AT)).toBe(false)
})

it('expires if it began before a loss', () => {
  const revalidations = new Revalidations()
  expect(revalidations.isExpired(made(0), AT)).toBe(false)
  revalidations.forget(at(10))
  expect([9, 10].map((since) => revalidations.isExpired(made(since), AT))).toEqual([true, false])
})

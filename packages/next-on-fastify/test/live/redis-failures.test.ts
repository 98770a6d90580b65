import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createClient } from 'redis'
import { FIRST_POSITION } from '../../src/shared-cache/store-contract.ts'
import { sendWithTimeout, RedisChanges } from '../../src/shared-cache/redis-store.ts'
import { BUILD_TIMEOUT } from '../helpers/built-fixture.ts'
import { sharedApp, type SharedApp } from '../helpers/sharing-processes.ts'
import { isMissing, redisServer } from '@test/redis-server'

describe.skipIf(isMissing)('a machine whose Redis hangs', () => {
  const redis = redisServer()
  let app: SharedApp
  beforeAll(async () => {
    app = await sharedApp('newest')
  }, BUILD_TIMEOUT)
  afterAll(() => app.close())

  it.each([false, true])(
    'makes all pages anew, and knows it when it is back (response cache: %s)',
    async (responseCache) => {
      const one = await app.start({ responseCache }, redis.path)
      const two = await app.start({ responseCache }, redis.path)
      app.setVersion(1)
      await one.change('/change?path=/page-of-file')
      for (let turn = 0; turn < 4; turn++) expect(await two.version('/page-of-file')).toBe(1)
      await redis.pause()
      onTestFinished(() => redis.resume())
      app.setVersion(2)
      for (let turn = 0; turn < 8; turn++) expect(await two.version('/page-of-file')).toBe(2)
      // Nobody is told that it was done.
      await expect(one.change('/change?path=/page-of-file')).rejects.toThrow(
        /answered with 500|terminated|closed|failed/,
      )
      await expect(one.change('/api/revalidate?path=/old')).rejects.toThrow('was answered with 500')
      await redis.resume()
      app.setVersion(3)
      const changed = (): Promise<boolean> =>
        one.change('/change?path=/page-of-file').then(
          () => true,
          () => false,
        )
      await expect.poll(changed, { timeout: 20_000, interval: 200 }).toBe(true)
      for (let turn = 0; turn < 8; turn++) expect(await two.version('/page-of-file')).toBe(3)
      await Promise.all([one.kill(), two.kill()])
    },
  )
})

describe.skipIf(isMissing)('a revalidation', () => {
  const redis = redisServer()
  let client: ReturnType<typeof createClient>
  beforeAll(async () => {
    client = createClient({ socket: { path: redis.path, reconnectStrategy: 20 } })
    await client.connect()
  })
  afterAll(() => client.destroy())

  /** Changes as one process has them, and what it was told. */
  function changesOf(key: string): { changes: RedisChanges; tags: string[]; lost: number[] } {
    const [tags, lost]: [string[], number[]] = [[], []]
    const send = sendWithTimeout({ redis: (command) => client.sendCommand(command), timeout: 10_000 })
    const reader = {
      changed: (change: { tags?: readonly string[] }) => void tags.push(...(change.tags ?? [])),
      lost: (position: number) => void lost.push(position),
    }
    return { changes: new RedisChanges(send, key, reader), tags, lost }
  }
  const change = (tag: string): { by: string; tags: string[] } => ({ by: 'me', tags: [tag] })

  it('is read by all, in one order, however much it is', async () => {
    const [one, two] = [changesOf('many'), changesOf('many')]
    await two.changes.read()
    const tags = Array.from({ length: 2500 }, (_, index) => `tag-${index}`)
    await Promise.all(tags.map((tag) => one.changes.append(change(tag))))
    await two.changes.read()
    const three = changesOf('many')
    await three.changes.read()
    expect([one.tags, two.tags, three.tags]).toEqual([tags, tags, tags])
    expect([two.lost, three.lost]).toEqual([[FIRST_POSITION], [FIRST_POSITION]])
    expect(three.changes.position).toBe(one.changes.position)
  })

  it('and is gone is known to be lost', async () => {
    const { changes, tags, lost } = changesOf('gone')
    await changes.append(change('a'))
    const before = changes.position
    await client.flushAll()
    await changes.read()
    expect([tags, lost.length]).toEqual([['a'], 2])
    expect(lost[1]).toBeGreaterThan(before)
    await changes.append(change('b'))
    expect([tags, lost.length]).toEqual([['a', 'b'], 2])
  })

  it('and was written by somebody else is taken for anything', async () => {
    const { changes, tags, lost } = changesOf('other')
    await changes.append(change('a'))
    await client.sendCommand(['XADD', 'other', '*', 'change', 'no JSON'])
    await changes.append(change('b'))
    expect([tags, lost.length]).toEqual([['a', 'b'], 2])
  })
})

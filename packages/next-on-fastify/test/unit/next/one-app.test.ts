import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createNextOnFastify } from 'next-on-fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { standInApp } from '../../helpers/stand-in.ts'

type App = Awaited<ReturnType<typeof createNextOnFastify>>

async function served(dir: string): Promise<App> {
  const app = await createNextOnFastify({ dir })
  onTestFinished(() => app.close())
  return app
}

/** Folder of another app, which sees the same copy of Next. */
function within(dir: string): string {
  const other = join(dir, 'other')
  mkdirSync(other)
  return other
}

const refused = { code: 'NEXT_ON_FASTIFY_SECOND_APP' }

describe('one Next app per process', () => {
  it('refuses a second app while the first is open, whatever copy of Next it has', async () => {
    const shop = standInApp({ name: 'shop' })
    const app = await served(shop)
    for (const dir of [standInApp({ name: 'blog' }), within(shop)]) {
      await expect(served(dir)).rejects.toMatchObject({
        ...refused,
        message: expect.stringContaining(`Second Next app in one process: got ${dir} after ${shop}. `),
      })
    }
    expect((await app.inject('/a')).json()).toMatchObject({ url: '/a' })
  })

  it('refuses a second app of the same copy of Next after the first has closed', async () => {
    const dir = standInApp()
    const app = await served(dir)
    await app.close()
    await expect(served(within(dir))).rejects.toMatchObject(refused)
  })

  it('serves another copy of Next after the first app has closed', async () => {
    const app = await served(standInApp())
    await app.close()
    expect((await (await served(standInApp())).inject('/a')).statusCode).toBe(200)
  })

  it('serves one app several times, and closes Next with the last server', async () => {
    const dir = standInApp()
    const counted = globalThis as { closedNext?: number }
    counted.closedNext = 0
    const [first, second] = await Promise.all([served(dir), served(dir)])
    await first.close()
    expect([counted.closedNext, (await second.inject('/a')).statusCode]).toEqual([0, 200])
    await second.close()
    expect(counted.closedNext).toBe(2)
  })

  it('refuses an app that was closed, as Next goes on with the closed server', async () => {
    const dir = standInApp()
    await (await served(dir)).close()
    await expect(served(dir)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining(`The Next app in ${dir} was closed and cannot start again`),
    })
  })

  it('serves an app after another has failed to start', async () => {
    const dir = standInApp({ name: 'broken' })
    await expect(served(dir)).rejects.toMatchObject({ code: 'NEXT_ON_FASTIFY_NOT_PREPARED' })
    expect((await (await served(within(dir))).inject('/a')).statusCode).toBe(200)
  })
})

import { expect, it } from 'vitest'
import { MergedReloads } from '../../../src/control/merged-reloads.ts'

/** A reload whose end the test decides. */
function reloads(): { merged: MergedReloads; started: PromiseWithResolvers<void>[] } {
  const started: PromiseWithResolvers<void>[] = []
  const merged = new MergedReloads(() => {
    const reload = Promise.withResolvers<void>()
    started.push(reload)
    return reload.promise
  })
  return { merged, started }
}

it('merges requests during a reload into one that follows it', async () => {
  const { merged, started } = reloads()
  const first = merged.run()
  const others = [merged.run(), merged.run(), merged.run()]
  expect(started).toHaveLength(1)
  started[0]!.resolve()
  await first
  await expect.poll(() => started.length).toBe(2)
  started[1]!.resolve()
  await Promise.all(others)
  expect(started).toHaveLength(2)
})

it('rejects only the requests of a reload that fails', async () => {
  const { merged, started } = reloads()
  const first = merged.run()
  const second = merged.run()
  started[0]!.reject(new Error('broken'))
  await expect(first).rejects.toThrow('broken')
  await expect.poll(() => started.length).toBe(2)
  started[1]!.resolve()
  await second
  const third = merged.run()
  started[2]!.resolve()
  await third
})

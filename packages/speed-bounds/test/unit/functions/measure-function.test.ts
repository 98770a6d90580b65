import { expect, it, onTestFinished, vi } from 'vitest'
import { measureFunction, UnusableFunction } from '../../../src/functions/measure-function.ts'

const SHORT = { warmUp: 20, duration: 20 }
const add = (count: number): number => {
  let sum = 0
  for (let index = 0; index < count; index++) sum += index
  return sum
}

it('measures work whose result V8 could remove', async () => {
  const few = await measureFunction(() => add(2000), { ...SHORT, isAsync: false })
  const many = await measureFunction(() => add(20_000), { ...SHORT, isAsync: false })
  // Removed work would cost the same.
  expect(many.cpu / few.cpu).toBeGreaterThan(4)
  expect(few.p50).toBeGreaterThan(0.0005)
  expect(few).toMatchObject({ calls: expect.any(Number), elapsed: expect.any(Number), rss: expect.any(Number) })
  expect(few.p50).toBeLessThanOrEqual(few.p90)
  expect(few.p90).toBeLessThanOrEqual(few.p99)
})

it('counts the calls', async () => {
  let calls = 0
  const { calls: counted } = await measureFunction(() => add(1000) + calls++, { ...SHORT, isAsync: false })
  // Warm-up calls come before.
  expect(counted).toBeGreaterThan(10)
  expect(counted).toBeLessThan(calls)
})

it('awaits an async function call by call', async () => {
  let running = 0
  let most = 0
  const { calls, elapsed } = await measureFunction(
    async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 2))
      running--
    },
    { ...SHORT, isAsync: true },
  )
  expect(most).toBe(1)
  expect(elapsed / calls).toBeGreaterThan(1)
})

it.each([
  ['does nothing', () => undefined],
  ['returns a constant', () => 17],
])('rejects a function that %s', async (_, fn) => {
  // On a busy machine, 20 ms are too short to optimize a call.
  await expect(measureFunction(fn, { ...SHORT, warmUp: 200, isAsync: false })).rejects.toThrow(UnusableFunction)
})

it('passes on the error of a later call', async () => {
  let calls = 0
  const fn = (): number => {
    if (calls++ > 1000) throw new RangeError('enough')
    return add(1000)
  }
  await expect(measureFunction(fn, { ...SHORT, isAsync: false })).rejects.toThrow('enough')
})

it('accepts a function although other programs took the core while the empty function was measured', async () => {
  const now = performance.now.bind(performance)
  let reads = 0
  // The third reading ends the first sample of the empty function, and its measurement with it.
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + (++reads > 2 ? 30 : 0))
  onTestFinished(() => clock.mockRestore())
  await expect(measureFunction(() => add(2000), { ...SHORT, isAsync: false })).resolves.toMatchObject({
    calls: expect.any(Number),
  })
})

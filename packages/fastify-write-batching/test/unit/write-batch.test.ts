import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTick } from 'node:timers/promises'
import { createWriteBatch, type WriteBatch } from 'fastify-write-batching'
import { expect, it, onTestFinished } from 'vitest'

/** Has ticks of two writes until one was quick. This tick then has one write, which is deferred. */
async function untilBusy(batch: WriteBatch): Promise<void> {
  while (!batch.shouldDefer()) {
    batch.shouldDefer()
    await nextTick()
  }
}

it('calls deferred writes at the end of the tick, in their order', async () => {
  const batch = createWriteBatch()
  const events: string[] = []
  for (const name of ['a', 'b']) batch.defer(() => events.push(name))
  events.push('c')
  queueMicrotask(() => events.push('microtask'))
  await nextTick()
  expect(events).toEqual(['c', 'microtask', 'a', 'b'])
})

it('calls deferred writes in the async context of their callers', async () => {
  const batch = createWriteBatch()
  const user = new AsyncLocalStorage<string>()
  const users: unknown[] = []
  // The 32nd has all of them written, in the context of the last.
  for (let write = 0; write < 33; write++)
    user.run(`user ${write}`, () => batch.defer(() => users.push(user.getStore())))
  await nextTick()
  expect(users).toEqual(Array.from({ length: 33 }, (_, write) => `user ${write}`))
})

it('calls further writes when one throws', async () => {
  const batch = createWriteBatch()
  const uncaught: unknown[] = []
  const others = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', (error) => uncaught.push(error))
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException')
    for (const listener of others) process.on('uncaughtException', listener)
  })
  const error = new Error('The write failed')
  const events: string[] = []
  batch.defer(() => {
    throw error
  })
  batch.defer(() => events.push('written'))
  await nextTick()
  expect([events, uncaught]).toEqual([['written'], [error]])
})

it('defers after a tick with several quick writes only', async () => {
  const batch = createWriteBatch()
  expect([batch.shouldDefer(), batch.shouldDefer()]).toEqual([false, false])
  await nextTick()
  await untilBusy(batch)
  expect(batch.shouldDefer()).toBe(true)
  await nextTick()
  batch.shouldDefer()
  await nextTick()
  // The last tick had one write.
  expect(batch.shouldDefer()).toBe(false)
})

it('does not defer while deferred writes are called', async () => {
  const batch = createWriteBatch()
  const deferred: boolean[] = []
  await untilBusy(batch)
  // Two quick writes: the next tick is busy, too.
  batch.shouldDefer()
  batch.defer(() => {
    deferred.push(batch.shouldDefer())
    // As Node writes a pipelined response.
    process.nextTick(() => deferred.push(batch.shouldDefer()))
  })
  await nextTick()
  expect(deferred).toEqual([false, false])
})

it('lets at most 1 MiB wait', async () => {
  const batch = createWriteBatch()
  await untilBusy(batch)
  const half = 2 ** 19
  for (let write = 0; write < 2; write++) {
    expect(batch.shouldDefer(half)).toBe(true)
    batch.defer(() => {}, half)
  }
  expect(batch.shouldDefer(1)).toBe(false)
  await nextTick()
  await untilBusy(batch)
  expect(batch.shouldDefer(half)).toBe(true)
})

it('counts', async () => {
  const batch = createWriteBatch()
  batch.shouldDefer()
  expect([batch.batched, batch.immediate]).toEqual([0, 1])
  batch.defer(() => {})
  expect([batch.batched, batch.immediate]).toEqual([1, 1])
})

it('takes a source for alone until another one writes', async () => {
  const batch = createWriteBatch()
  expect([batch.isAlone(1), batch.isAlone(1), batch.isAlone(2), batch.isAlone(2)]).toEqual([false, true, false, true])
})

it('takes no source for alone while ticks are busy', async () => {
  const batch = createWriteBatch()
  await untilBusy(batch)
  batch.shouldDefer()
  await nextTick()
  expect([batch.isAlone(1), batch.isAlone(1)]).toEqual([false, false])
})

it('counts no ticks for writes of a source that is alone', async () => {
  const batch = createWriteBatch()
  batch.isAlone(1)
  for (let write = 0; write < 5; write++) {
    expect(batch.isAlone(1)).toBe(true)
    await nextTick()
  }
  expect([batch.tick, batch.batched, batch.immediate]).toEqual([0, 0, 5])
})

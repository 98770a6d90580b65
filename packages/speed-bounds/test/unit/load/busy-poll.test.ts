import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { BusyPoll } from '../../../src/load/autocannon/busy-poll.ts'

/** Milliseconds in which the event loop slept and the poll waited, during this time. A busy machine leaves little of it. */
async function during(milliseconds: number, poll: BusyPoll): Promise<{ slept: number; waited: number }> {
  // Lets a wait that has begun end first.
  await sleep(5)
  const loop = performance.eventLoopUtilization()
  const { waited } = poll
  await sleep(milliseconds)
  return { slept: performance.eventLoopUtilization(loop).idle, waited: poll.waited - waited }
}

it('keeps the event loop awake until it is stopped, and counts its waiting time', async () => {
  const poll = new BusyPoll(50)
  // Other files of this process would never sleep.
  onTestFinished(() => poll.stop())
  expect((await during(200, poll)).slept).toBeGreaterThan(15)
  poll.start()
  const awake = await during(200, poll)
  expect(awake.slept).toBeLessThan(10)
  expect(awake.waited).toBeGreaterThan(15)
  poll.stop()
  const asleep = await during(200, poll)
  expect(asleep.slept).toBeGreaterThan(15)
  expect(asleep.waited).toBe(0)
})

it('has one immediate, however often it is started and stopped', () => {
  const immediates = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Immediate').length
  const others = immediates()
  const poll = new BusyPoll(50)
  for (let start = 0; start < 5; start++) {
    poll.start()
    poll.stop()
    poll.start()
    poll.start()
  }
  expect(immediates() - others).toBe(1)
  poll.stop()
  expect(immediates() - others).toBe(0)
})

it('does nothing with an interval of 0', async () => {
  const poll = new BusyPoll(0)
  poll.start()
  const { slept, waited } = await during(200, poll)
  expect(slept).toBeGreaterThan(15)
  expect(waited).toBe(0)
})

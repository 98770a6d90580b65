import { expect, it } from 'vitest'
import { ResponseTally } from '../../../src/load/autocannon/response-tally.ts'
import type { ResolvedLoad } from '../../../src/options/resolved.ts'

const load: ResolvedLoad = {
  generator: 'autocannon',
  busyPoll: 0,
  connections: 2,
  pipelining: 3,
  duration: 100,
  amount: undefined,
  requestTimeout: 1000,
}

it('separates responses and failures before the round from those in it', () => {
  const tally = new ResponseTally(load)
  tally.response('one', true, 1)
  tally.response('one', true, 1)
  tally.response('other', false, 1)
  // autocannon reports a broken connection once per pipelined request. It is one error.
  for (let request = 0; request < load.pipelining; request++) tally.error()
  // Three of the five were on that connection.
  tally.begin(5)
  tally.response('one', true, 7)
  expect(tally.before).toEqual({ responses: 2, failures: 1 + 1 + 2 })
  expect([tally.right, tally.wrong, tally.errors]).toEqual([3, 1, 1])
  // The histogram has three digits.
  for (const milliseconds of Object.values(tally.latency)) expect(milliseconds).toBeCloseTo(7, 2)
})

it('a round is over when each connection has had a recent response', () => {
  const tally = new ResponseTally(load)
  tally.begin(0)
  expect(tally.isOver()).toBe(false)
  tally.response('one', true, 10)
  expect([tally.isOver(), tally.hanging]).toEqual([false, 0])
  tally.response('other', true, 10)
  expect([tally.isOver(), tally.hanging]).toEqual([true, 0])
})

it('a round is over when each connection has had a recent response or error', () => {
  const tally = new ResponseTally(load)
  tally.begin(0)
  tally.response('one', true, 10)
  expect(tally.isOver()).toBe(false)
  tally.reconnected('other')
  expect([tally.isOver(), tally.hanging]).toEqual([true, 0])
})

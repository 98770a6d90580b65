import { expect, it } from 'vitest'
import type { Connection } from '../../../src/connection/connection.ts'
import { Requests } from '../../../src/load-test/requests.ts'
import { runUsers } from '../../../src/load-test/run-users.ts'
import { Tally } from '../../../src/load-test/tally.ts'
import { usersAt } from '../../../src/load-test/users.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'

const STAGES = [
  { users: 50, duration: 10 },
  { users: 50, duration: 20 },
  { users: 100, duration: 10 },
  { users: 0, duration: 10 },
]

it.each([
  [0, 0, 0],
  [5, 25, 0],
  [10, 50, 1],
  [29, 50, 1],
  [35, 75, 2],
  [45, 50, 3],
])('has, at %d, %d users', (time, users, stage) => {
  expect(usersAt(STAGES, time)).toEqual({ users, stage })
})

it('has no users after the last stage', () => {
  expect(usersAt(STAGES, 50)).toBeUndefined()
})

it('changes the number of users at once in a stage without a duration', () => {
  expect(
    usersAt(
      [
        { users: 8, duration: 0 },
        { users: 8, duration: 10 },
      ],
      0,
    ),
  ).toEqual({ users: 8, stage: 1 })
})

/** Users of a server that responds after 10 ms. */
async function apply(pause: number): Promise<{ responses: number[]; stages: number[]; peak: number }> {
  const clock = new FakeClock()
  const connect = (): Connection => {
    let free = 1
    return {
      get free() {
        return free
      },
      send(onEnd) {
        free = 0
        clock.sleep(10, () => {
          free = 1
          onEnd(200)
        })
        return () => {}
      },
      close() {},
    }
  }
  const stages: number[] = []
  const tallies = [new Tally(undefined), new Tally(undefined), new Tally(undefined)]
  const plan = {
    stages: [
      { users: 4, duration: 0 },
      { users: 4, duration: 1000 },
      { users: 0, duration: 1000 },
    ],
    pause,
    keepAlive: true,
  }
  const requests = new Requests(clock, 10_000)
  const ended = runUsers(plan, { clock, requests, connect, tallies, onStage: (stage) => stages.push(stage) })
  await clock.run()
  const { peak } = await ended
  return { responses: tallies.map((tally) => tally.read().responses), stages, peak }
}

it('sends the next request of a user after the response to the one before', async () => {
  const { responses, stages, peak } = await apply(0)
  expect(stages).toEqual([1, 2])
  expect(peak).toBe(4)
  // Four users, and 100 requests of 10 ms for each of them in a second. Then they leave after 250, 500, 750 and 1000 ms.
  expect(responses).toEqual([0, 400, 25 + 50 + 75 + 100])
})

it('pauses between a response and the next request', async () => {
  // Each request takes 10 ms, and each pause 20 to 60 ms.
  const { responses } = await apply(40)
  expect(responses[1]).toBeGreaterThanOrEqual(4 * 14)
  expect(responses[1]).toBeLessThanOrEqual(4 * 34)
})

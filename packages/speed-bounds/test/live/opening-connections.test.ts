import { expect, it } from 'vitest'
import { race } from '../../src/index.ts'
import { MEASUREMENT, server, SMALL, spin } from '../helpers/servers.ts'

/**
 * Node accepts one connection per tick of its event loop. If all connections sent requests immediately, each tick would
 * take 5 ms longer than the previous one. The last connection would wait 8 s for its first response.
 */
const slowToAccept = server(`${spin(50)} response.end('ok')`, `server.on('connection', () => { ${spin(2000)} })`)
const many = { connections: 60, pipelining: 100, requestTimeout: 4000 }

it.each([
  ['in turns', MEASUREMENT.turn],
  ['in whole rounds', SMALL.duration],
])('the load begins when the server has accepted all connections: %s', async (_, turn) => {
  const { rounds } = await race(
    { one: slowToAccept, other: slowToAccept },
    { ...SMALL, ...many, measurement: { ...MEASUREMENT, turn } },
  ).measure()
  expect(rounds.map(({ failures }) => failures)).toEqual([0, 0, 0, 0])
})

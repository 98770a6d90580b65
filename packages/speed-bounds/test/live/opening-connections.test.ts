import { expect, it } from 'vitest'
import { race } from '../../src/index.ts'
import { server, SMALL, spin } from '../helpers/servers.ts'

/**
 * Node takes in one connection in each turn of its event loop. If all asked at once, each turn would take 5 ms more than
 * the one before, as soon as one is taken in that has asked: the last one would wait for its first answer for 8 s.
 */
const slowToTakeIn = server(`${spin(50)} response.end('ok')`, `server.on('connection', () => { ${spin(2000)} })`)
const many = { connections: 60, pipelining: 100, requestTimeout: 4000 }

it.each([
  ['by turns', SMALL.turn],
  ['at one go', SMALL.duration],
])('the load begins when all connections are taken in, however much each asks for: %s', async (_, turn) => {
  const { rounds } = await race({ one: slowToTakeIn, other: slowToTakeIn }, { ...SMALL, ...many, turn }).measure()
  expect(rounds.map(({ failures }) => failures)).toEqual([0, 0, 0, 0])
})

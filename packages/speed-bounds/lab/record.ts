// Records the rounds of a server against itself.

import { writeFileSync } from 'node:fs'
import { race } from '../src/index.ts'
import { plainServer } from './servers.ts'

const [, , file] = process.argv
if (file === undefined) throw new Error('Usage: node lab/record.ts <file>')

const match = race({ a: plainServer(), b: plainServer() }, { path: '/', measurement: { maxForeignCpu: 64 } })
const { rounds } = await match.measure()
writeFileSync(file, `${JSON.stringify(rounds)}\n`)
const foreign = rounds.reduce((sum, { foreignCpu }) => sum + foreignCpu, 0) / rounds.length
console.log(`${rounds.length} rounds, other programs took ${foreign.toFixed(2)} cores on average`)

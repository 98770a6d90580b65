// Records stages of a server against itself: four processes of each, with many rounds.

import { writeFileSync } from 'node:fs'
import { race } from '../src/index.ts'
import { type Recording, recordingOf } from './recording.ts'
import { plainServer } from './servers.ts'

const [, , file, stages = '4'] = process.argv
if (file === undefined) throw new Error('Usage: node lab/record.ts <file> [stages]')

const recordings: Recording[] = []
for (let stage = 1; stage <= Number(stages); stage++) {
  const match = race(
    { a: plainServer(), b: plainServer() },
    { path: '/', replicas: 4, measurement: { cycles: 24, maxForeignCpu: 64 } },
  )
  const { rounds } = await match.measure()
  recordings.push(recordingOf(rounds))
  const foreign = rounds.reduce((sum, { foreignCpu }) => sum + foreignCpu, 0) / rounds.length
  console.log(`stage ${stage}: ${rounds.length} rounds, other programs took ${foreign.toFixed(2)} cores on average`)
}
writeFileSync(file, `${JSON.stringify(recordings)}\n`)

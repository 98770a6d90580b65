import { describe, expect, it } from 'vitest'
import { type Draw, recordingOf, resampledRace } from '../helpers/resampled-functions.ts'

const TRIALS = 4000
/** Heats of a race with the default budget, and all of them. */
const HEATS = [20, 48]
const DRAWS: Draw[] = ['processes', 'heats']

describe.each(['functions-quiet', 'functions-busy'])('races of functions, drawn from %s.json', (name) => {
  const recording = recordingOf(name)

  it.each(HEATS.flatMap((heats) => DRAWS.map((draw): [number, Draw] => [heats, draw])))(
    'call a function faster or slower than itself in at most one of 100 races: %i heats, %s drawn',
    (heats, draw) => {
      let wrong = 0
      for (let seed = 1; seed <= TRIALS; seed++) {
        if (resampledRace(recording, { draw, factor: 1, seed, heats }) !== 'inconclusive') wrong++
      }
      expect(wrong / TRIALS).toBeLessThanOrEqual(0.01)
    },
  )
})

it('finds 5 % within the default budget in most races, drawn from functions-quiet.json', () => {
  const recording = recordingOf('functions-quiet')
  const verdicts = Array.from({ length: TRIALS }, (_, seed) =>
    resampledRace(recording, { draw: 'heats', factor: 1.05, seed: seed + 1, heats: 20 }),
  )
  expect(verdicts.filter((verdict) => verdict === 'holds').length / TRIALS).toBeGreaterThanOrEqual(0.85)
  expect(verdicts).not.toContain('broken')
})

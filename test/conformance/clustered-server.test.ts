import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { afterEach, expect, it } from 'vitest'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { cases, subjects } from '../suites/clustered-server.ts'

afterEach(endSubjects)

it('every subject gives the same answers to all cases', async () => {
  await expect(race(subjects, { cases })).toHaveSameResponses()
})

it('they say hello, and how many primes there are', async () => {
  const { origin } = await startSubject(subjects.clustered.file)
  expect(await (await fetch(origin + cases.hello.path)).json()).toEqual({ hello: 'world' })
  expect(await (await fetch(origin + cases.primes.path)).json()).toEqual({ below: 100_000, primes: 9592 })
})

it('an answer that blocks takes 50 ms', async () => {
  const { origin } = await startSubject(subjects['single-process'].file)
  const before = performance.now()
  expect(await (await fetch(`${origin}/blocking`)).json()).toEqual({ blocked: 50 })
  expect(performance.now() - before).toBeGreaterThanOrEqual(50)
})

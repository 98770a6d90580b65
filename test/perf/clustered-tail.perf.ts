// Waiting time of new connections while workers are blocked now and then. With a shared socket, a free worker accepts them.
// With round robin, the next worker gets them even if it is blocked.

import { mkdirSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { subjects } from '../suites/clustered-server.ts'
import { bounds } from './bounds.ts'
import { claimText } from './suite.ts'
import { constantly, userLoad } from './user-load.ts'

/** If a bound were wrong, the worst of five processes of each would still pass in at most one of 252 runs. */
const PROCESSES = 5

/** Milliseconds between two requests, each over its own connection. A worker is hardly ever busy with them. */
const INTERVAL = 10
/**
 * After this many requests, one more blocks a worker for 50 ms. So one worker is always free, and with round robin one
 * new connection in sixteen goes to the blocked one. The blocking request comes halfway between two others, because a
 * worker could accept it together with another one.
 */
const BLOCK_AFTER = 40

/** Milliseconds that the generator can be late. Beyond it cores are short, and requests wait for a core. */
const LATE = 10

/** Milliseconds. */
const WARM_UP = 1500
const DURATION = 5000

interface Figures {
  readonly answers: number
  readonly failures: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Delay of the generator itself: 99th percentile in milliseconds. */
  readonly late: number
}

const NAMES = ['clustered', 'node-cluster'] as const

const folder = new URL('../../results/clustered-tail/', import.meta.url)
const measured: Record<string, Figures[]> = {}

afterEach(endSubjects)

it(`new connections while workers are blocked 50 ms at a time: ${NAMES.join(', ')}`, async ({ annotate }) => {
  for (let process = 0; process < PROCESSES; process++)
    for (const name of NAMES) (measured[name] ??= []).push(await measure(subjects[name].file))
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL('processes.json', folder), `${JSON.stringify(measured, null, 2)}\n`)
  for (const [name, of] of Object.entries(measured)) await annotate(`${name}: ${describe(of)}`, 'evidence')
  expect(Object.values(measured).flatMap((of) => of.map(({ failures }) => failures))).toEqual(
    Array.from({ length: NAMES.length * PROCESSES }, () => 0),
  )
})

for (const { contender, over, atLeast, metric } of bounds['clustered-tail']) {
  const claim = claimText({ contender, over, atLeast, ...(metric && { metric }) })
  it(`new connections while workers are blocked 50 ms at a time: ${claim}`, async ({ annotate, skip }) => {
    const late = Math.max(...[contender, over].flatMap((name) => measured[name]!.map((of) => of.late)))
    if (late > LATE) skip(`inconclusive, as the generator itself had to wait ${late.toFixed(1)} ms for a core`)
    const p99 = (name: string): number[] => measured[name]!.map((of) => of.p99)
    const lowest = Math.min(...p99(over)) / Math.max(...p99(contender))
    await annotate(`the worst process against the best: ${lowest.toFixed(2)}x`, 'evidence')
    expect(lowest).toBeGreaterThanOrEqual(atLeast)
  })
}

async function measure(file: URL): Promise<Figures> {
  const { child, origin } = await startSubject(file)
  await userLoad(`${origin}/`, constantly(4, WARM_UP), { keepAlive: false })
  const figures = await steadily(origin)
  child.kill('SIGTERM')
  return figures
}

/** Sends requests at fixed times, with or without responses. */
async function steadily(origin: string): Promise<Figures> {
  const began = performance.now()
  const times: number[] = []
  const delays: number[] = []
  let failures = 0
  const asked: Promise<void>[] = []
  const until = async (time: number): Promise<void> => {
    const early = began + time - performance.now()
    if (early > 0) await sleep(early)
  }
  for (let request = 0; request * INTERVAL < DURATION; request++) {
    await until(request * INTERVAL)
    // A server cannot change the delay of the generator on a busy machine.
    const sent = performance.now()
    delays.push(sent - began - request * INTERVAL)
    asked.push(
      answered(`${origin}/`).then(
        () => void times.push(performance.now() - sent),
        () => void failures++,
      ),
    )
    if (request % BLOCK_AFTER > 0) continue
    await until((request + 0.5) * INTERVAL)
    asked.push(answered(`${origin}/blocking`).catch(() => void failures++))
  }
  await Promise.all(asked)
  return { answers: times.length, failures, p50: at(0.5, times), p99: at(0.99, times), late: at(0.99, delays) }
}

function at(share: number, values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!
}

function answered(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response
        .resume()
        .once('close', () =>
          response.complete && response.statusCode === 200 ? resolve() : reject(new Error('No answer')),
        )
    }).once('error', reject)
  })
}

function describe(figures: readonly Figures[]): string {
  const list = (value: (of: Figures) => number): string => figures.map((one) => value(one).toFixed(1)).join(', ')
  return `p99 ${list(({ p99 }) => p99)} ms, p50 ${list(({ p50 }) => p50)} ms, generator late by ${list(({ late }) => late)} ms`
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import '../../src/vitest.ts'
import { race } from '../../src/index.ts'
import { ok, processesWith, script, scripts, server } from '../helpers/servers.ts'

const src = new URL('../../src/', import.meta.url)
const index = new URL('index.ts', src).href
const subject = JSON.stringify(ok.file)

/** Starts a runner with a race that would go on for a minute, and waits until it measures. */
async function startRace(): Promise<ReturnType<typeof spawn>> {
  const { file } = script(`
import { race } from '${index}'
await race({ a: ${subject}, b: ${subject} }, {
  path: '/', replicas: 2, duration: 100, measurement: { cycles: 1000, maxWarmUp: 100 },
  onProgress: ({ phase }) => { if (phase === 'measuring') console.log('measuring') },
}).measure()`)
  const runner = spawn(process.execPath, [String(file)], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(runner.stdout, 'data')
  expect(processesWith(String(ok.file)).length).toBe(4)
  return runner
}

/** Subjects, and the processes of this checkout of the package. */
const left = (): number[] =>
  [
    fileURLToPath(new URL('subject/supervisor-process', src)),
    fileURLToPath(new URL('load/generator-process', src)),
    scripts,
  ].flatMap((word) => processesWith(word))

/** The supervisor needs a moment to notice, and to end the subjects. */
async function untilAllGone(): Promise<number[]> {
  for (let tries = 0; tries < 400 && left().length > 0; tries++) await sleep(50)
  return left()
}

describe.skipIf(process.platform !== 'linux')('no process is left behind', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('when the runner is ended by %s in mid-race', async (signal) => {
    const runner = await startRace()
    runner.kill(signal)
    await once(runner, 'exit')
    expect(await untilAllGone()).toEqual([])
  })

  it('when the runner is killed while subjects that ignore SIGTERM are being stopped', async () => {
    const stubborn = server(
      `response.end('ok')`,
      `process.removeAllListeners('SIGTERM'); process.on('SIGTERM', () => console.error('no'))`,
    )
    const stubbornFile = JSON.stringify(stubborn.file)
    const { file } = script(`
import { race } from '${index}'
await race({ a: ${stubbornFile}, b: ${stubbornFile} }, {
  path: '/', replicas: 2, duration: 50, stopTimeout: 60_000, measurement: { cycles: 1, maxWarmUp: 100 },
  onProgress: ({ phase, done, total }) => { if (phase === 'measuring' && done === total - 1) console.log('nearly') },
}).measure()`)
    const runner = spawn(process.execPath, [String(file)], { stdio: ['ignore', 'pipe', 'inherit'] })
    // The last round has begun; a second later the race waits for its subjects to end.
    await once(runner.stdout, 'data')
    await sleep(1000)
    expect(processesWith(String(stubborn.file)).length).toBe(4)
    runner.kill('SIGKILL')
    expect(await untilAllGone()).toEqual([])
  })

  describe('after a timeout of a test', () => {
    let phases: string[] = []
    const match = race(
      { ok, twin: ok },
      {
        path: '/',
        replicas: 2,
        measurement: { cycles: 1000, maxWarmUp: 100 },
        onProgress: ({ phase }) => phases.push(phase),
      },
    )

    it.fails('of a race that takes longer', { timeout: 6000 }, async () => {
      await expect(match).toOutpace('twin', { atLeast: 1 })
    })

    it('its race has ended', async () => {
      expect(phases).toContain('measuring')
      expect(await untilAllGone()).toEqual([])
      phases = []
      await expect(match.measure()).rejects.toThrow('timed out in 6000ms')
      expect(phases).toEqual([])
    })
  })

  it.each([
    ['start', 'starting', script('setInterval(() => {}, 1000)')],
    ['respond', 'comparing', server(`if (requests < 2) response.end('ok')`)],
    ['respond under load', 'warming', server(`setTimeout(() => response.end('ok'), requests < 3 ? 0 : 60_000)`)],
  ])('when it is aborted while a subject does not %s', async (_, phase, stuck) => {
    const reason = new Error('enough')
    const controller = new AbortController()
    const phases: string[] = []
    let aborted = 0
    const match = race(
      { stuck, ok },
      {
        ...{ path: '/', replicas: 2, requestTimeout: 60_000, startTimeout: 60_000 },
        measurement: { maxWarmUp: 60_000 },
        onProgress(progress) {
          if (progress.phase === phase && !phases.includes(phase)) {
            setTimeout(() => {
              aborted = performance.now()
              controller.abort(reason)
            }, 1000)
          }
          phases.push(progress.phase)
        },
      },
    )
    await expect(match.measure({ signal: controller.signal })).rejects.toBe(reason)
    expect(performance.now() - aborted).toBeLessThan(10_000)
    expect(phases.at(-1)).toBe(phase)
    expect(await untilAllGone()).toEqual([])
  })

  it('when it is aborted before it begins', async () => {
    const phases: string[] = []
    const match = race({ ok, twin: ok }, { path: '/', onProgress: ({ phase }) => phases.push(phase) })
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(match.compareResponses({ signal })).rejects.toThrow('enough')
    await expect(match.decide('twin', { atLeast: 1, signal })).rejects.toThrow('enough')
    expect(phases).toEqual([])
  })

  it('when the supervisor is killed, which fails the race', async () => {
    const { file } = script(`
import { race } from '${index}'
import { execFileSync } from 'node:child_process'
let done = false
const error = await race({ a: ${subject}, b: ${subject} }, {
  path: '/', replicas: 2, measurement: { cycles: 50, maxWarmUp: 100 },
  onProgress({ phase }) {
    if (phase !== 'measuring' || done) return
    done = true
    execFileSync('pkill', ['-9', '-P', String(process.pid), '-f', 'src/subject/supervisor-process'])
  },
}).measure().catch((reason) => reason)
console.log(error.code)`)
    const runner = spawn(process.execPath, [String(file)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [output] = (await once(runner.stdout, 'data')) as [Buffer]
    expect(output.toString().trim()).toBe('SPEED_BOUNDS_SUPERVISOR_LOST')
    expect(await untilAllGone()).toEqual([])
  })
})

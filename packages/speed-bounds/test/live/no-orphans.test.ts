import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ok, processesWith, script, scripts, server } from './servers.ts'

const index = new URL('../../src/index.ts', import.meta.url).href
const subject = JSON.stringify(ok.file)

/** Starts a runner with a race that would go on for a minute, and waits until it measures. */
async function startRace(): Promise<ReturnType<typeof spawn>> {
  const { file } = script(`
import { race } from '${index}'
await race({ a: ${subject}, b: ${subject} }, {
  path: '/', replicas: 2, cycles: 1000, warmUp: 100, duration: 100,
  onProgress: ({ phase }) => { if (phase === 'measuring') console.log('measuring') },
}).measure()`)
  const runner = spawn(process.execPath, [String(file)], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(runner.stdout, 'data')
  expect(processesWith(String(ok.file)).length).toBe(4)
  return runner
}

/** Subjects, and the processes that this package started for itself. */
const left = (): number[] => ['src/warden', 'src/generator-process', scripts].flatMap((word) => processesWith(word))

/** The warden needs a moment to notice and to end what it started; it must not take long. */
async function untilAllGone(): Promise<number[]> {
  for (let tries = 0; tries < 100 && left().length > 0; tries++) await sleep(50)
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
  path: '/', replicas: 2, cycles: 1, duration: 50, warmUp: 100, stopTimeout: 60_000,
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

  it('when the warden is killed: the race fails and the runner ends the subjects', async () => {
    const { file } = script(`
import { race } from '${index}'
import { execFileSync } from 'node:child_process'
let done = false
const error = await race({ a: ${subject}, b: ${subject} }, {
  path: '/', replicas: 2, cycles: 50, warmUp: 100,
  onProgress({ phase }) {
    if (phase !== 'measuring' || done) return
    done = true
    execFileSync('pkill', ['-9', '-P', String(process.pid), '-f', 'src/warden'])
  },
}).measure().catch((reason) => reason)
console.log(error.code)`)
    const runner = spawn(process.execPath, [String(file)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [output] = (await once(runner.stdout, 'data')) as [Buffer]
    expect(output.toString().trim()).toBe('SPEED_BOUNDS_WARDEN_LOST')
    expect(await untilAllGone()).toEqual([])
  })
})

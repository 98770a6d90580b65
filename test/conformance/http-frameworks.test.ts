import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { afterEach, describe, expect, it } from 'vitest'
import { cases, subjects } from '../suites/http-frameworks.ts'

it('every subject gives the same answers to all cases', async () => {
  await expect(race(subjects, { cases })).toAnswerAlike()
})

it('a missing page is a 404 of the framework, whose body may differ', async () => {
  const { normalise: _, ...strict } = cases.missing
  await expect(expect(race(subjects, { cases: { missing: strict } })).toAnswerAlike()).rejects.toThrow('differently')
})

const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

/** Starts a subject as a user would, and reads its address from what it prints. */
async function start(file: URL, port = '0'): Promise<{ child: ChildProcess; origin: string }> {
  const env = { ...process.env, HOST: '127.0.0.1', PORT: port, NODE_ENV: 'production' }
  const child = spawn(process.execPath, [fileURLToPath(file)], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  running.push(child)
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += String(chunk)
    const found = /port: (\d+)/.exec(printed)?.[1]
    if (found) return { child, origin: `http://127.0.0.1:${found}` }
  }
  return { child, origin: '' }
}

describe.each(Object.entries(subjects))('%s', (_name, subject) => {
  const file = subject as URL

  // Windows has no SIGTERM: a process is ended at once.
  it.skipIf(process.platform === 'win32')('listens on any port, drains on SIGTERM and exits with 0', async () => {
    const { child, origin } = await start(file)
    // A connection that stays open must not keep the process alive.
    await (await fetch(`${origin}/`)).text()
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('fails with a port that is taken', async () => {
    const { origin } = await start(file)
    const { child } = await start(file, new URL(origin).port)
    if (child.exitCode === null) await once(child, 'exit')
    expect(child.exitCode).toBeGreaterThan(0)
  })

  it('survives hostile requests', async () => {
    const { child, origin } = await start(file)
    for (const path of [
      '/api?name=%',
      '/api?name=%E0%A4%A',
      '/api?name=a&name=b',
      '/%',
      '//',
      `/${'a'.repeat(8000)}`,
    ]) {
      const response = await fetch(origin + path)
      expect(response.status).toBeLessThan(600)
      await response.text()
    }
    expect(child.exitCode).toBeNull()
    expect(await (await fetch(`${origin}/api?name=john&lastname=doe`)).text()).toBe('john doe')
  })
})

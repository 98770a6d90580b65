// The program of the README that tells whether it is alive and ready, as it stands there.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'

const readme = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')

/** Replaces what must be there. */
function replaced(text: string, from: string, to: string): string {
  expect(text.split(from)).toHaveLength(2)
  return text.replace(from, to)
}

it(
  'says that it is not ready before it stops, and answers until then',
  async () => {
    const dir = await builtFixture('newest')
    const folder = mkdtempSync(join(dir, '../health-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    let program = /```ts\n(\/\/ health\.ts\n[\s\S]*?)```/.exec(readme)![1]!
    program = replaced(program, "'./web'", JSON.stringify(dir))
    program = replaced(program, 'await app.listen({ port: 3000 })', 'console.log("at", await app.listen({ port: 0 }))')
    program = replaced(program, 'await setTimeout(5000)', 'await setTimeout(3000)')
    const file = join(folder, 'health.ts')
    writeFileSync(file, program)
    const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' }
    const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const exit = once(child, 'exit')
    let printed = ''
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      printed += String(chunk)
      if (printed.includes('at http')) break
    }
    child.stdout.resume()
    const port = /at http:\S+:(\d+)/.exec(printed)![1]!
    const ask = async (path: string): Promise<[number, string]> => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`)
      return [answer.status, await answer.text()]
    }
    expect([await ask('/health'), await ask('/ready')]).toEqual([
      [200, 'ok'],
      [200, 'ready'],
    ])
    child.kill('SIGTERM')
    await expect.poll(() => ask('/ready')).toEqual([503, 'leaving'])
    expect(await ask('/health')).toEqual([200, 'ok'])
    expect((await ask('/static'))[1]).toContain('<h1>Static</h1>')
    expect(await exit).toEqual([0, null])
  },
  BUILD_TIMEOUT,
)

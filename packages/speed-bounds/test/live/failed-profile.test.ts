import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { bareNode } from '../helpers/bare-node.ts'
import { fixtureRepository } from '../helpers/fixture-repository.ts'
import { processesWith } from '../helpers/servers.ts'

const cli = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-failed-profile-'))
const json = join(folder, 'result.json')
const execPath = bareNode(folder)

const server = `
import { createServer } from 'node:http'
const server = createServer((_, response) => response.end('ok')).listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => process.exit(0))`

const config = (claims: object[]): string =>
  JSON.stringify({
    subjects: { bare: { file: './server.mjs', execPath }, ...(claims.length > 0 && { plain: './server.mjs' }) },
    ...{ path: '/', replicas: 2, duration: 100, claims },
    measurement: { cycles: 2, stages: 1, maxWarmUp: 100, maxForeignCpu: 64 },
  })

async function run(cwd: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [cli, ...args, '--profile', '--json', json], { cwd })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (text: Buffer) => (output[name] += text.toString()))
  }
  const [code] = (await once(child, 'close')) as [number]
  return { code, ...output }
}

afterAll(() => rmSync(folder, { recursive: true }))

describe.skipIf(process.platform === 'win32')('a profile that fails loses no result, and the exit code is 4', () => {
  it('of run', async () => {
    writeFileSync(join(folder, 'server.mjs'), server)
    writeFileSync(
      join(folder, 'speed-bounds.config.json'),
      config([{ over: 'plain', contender: 'bare', atLeast: 0.01, metric: 'cpu' }]),
    )
    const { code, stdout, stderr } = await run(folder, 'run')
    expect(stderr).toMatch(/\nSPEED_BOUNDS_PROFILE_FAILED: bare could not be profiled: .*\n$/)
    expect(stdout).toMatch(/bare is at least 0\.01x plain \(GET \/\): \w+/)
    expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({ claims: [{ contender: 'bare' }] })
    expect({ code, left: processesWith(folder) }).toEqual({ code: 4, left: [] })
  })

  it('of a subject that its own Node cannot start with the profiler', async () => {
    const firstOnly = join(folder, 'first-only')
    writeFileSync(firstOnly, `#!/bin/sh\nexec ${process.execPath} "$1"\n`, { mode: 0o755 })
    writeFileSync(join(folder, 'server.mjs'), server)
    writeFileSync(
      join(folder, 'speed-bounds.config.json'),
      config([{ over: 'plain', contender: 'bare', atLeast: 0.01, metric: 'cpu' }]).replace(execPath, firstOnly),
    )
    const { code, stderr } = await run(folder, 'run')
    expect(stderr).toMatch(
      /\nSPEED_BOUNDS_PROFILE_FAILED: bare could not be profiled: bare \(node .*\) ended with code 9\.[^]*--import requires an argument\n$/,
    )
    expect(code).toBe(4)
  })

  it('of compare', async () => {
    const repository = fixtureRepository()
    repository.commit({ 'speed-bounds.config.json': config([]), 'server.mjs': server })
    const { code, stdout, stderr } = await run(repository.folder, 'compare', 'HEAD')
    expect(stderr).toMatch(/\nSPEED_BOUNDS_PROFILE_FAILED: bare@HEAD could not be profiled: .*\n$/)
    expect(stdout).toContain('bare')
    expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({ kind: 'comparison', cases: [{ subject: 'bare' }] })
    expect(code).toBe(4)
  })
})

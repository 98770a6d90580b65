import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { fixtureRepository } from '../helpers/fixture-repository.ts'
import { spin } from '../helpers/servers.ts'

const main = fileURLToPath(new URL('../../src/action/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-action-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The token must not be in the environment of a server. */
const server = (work: string): string => `
import { createServer } from 'node:http'
const secret = Object.values(process.env).some((value) => value.includes('secret-token'))
const server = createServer((_, response) => { ${work} response.end(secret ? 'leaked' : 'ok') })
server.listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => process.exit(0))`

const CONFIG = {
  ...{ subjects: { server: './server.mjs' }, path: '/', replicas: 2, duration: 100, expect: { body: 'ok' } },
  measurement: { cycles: 2, maxWarmUp: 100, maxForeignCpu: 64 },
}

/** A checkout as actions/checkout makes it: HEAD is the pull request, merged into its base. */
const repository = fixtureRepository()
repository.commit({ 'speed-bounds.config.json': JSON.stringify(CONFIG), 'server.mjs': server('') })
repository.git('checkout', '--quiet', '-b', 'feature')
const head = repository.commit({ 'server.mjs': server(spin(2000)) })
repository.git('checkout', '--quiet', '--detach', 'main')
const base = repository.commit({ 'unrelated.txt': 'the base has moved on' })
repository.git(
  '-c',
  'user.name=a',
  '-c',
  'user.email=a@example.com',
  'merge',
  '--quiet',
  '--no-ff',
  '-m',
  'merge',
  head,
)

/** Runs the script with a recorded event, against a fake API server that responds to writes with a status. */
async function runAction(
  status: number,
  { path = process.env['PATH'], limit = '5%' } = {},
): Promise<{ code: number; output: string; summary: string; writes: string[] }> {
  const writes: string[] = []
  const api = createServer(async (request, response) => {
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
    if (request.method !== 'GET') writes.push(`${request.method} ${request.url} ${body}`)
    response.writeHead(request.method === 'GET' ? 200 : status).end('[]')
  }).listen(0, '127.0.0.1')
  await once(api, 'listening')
  const [event, summary] = [join(folder, 'event.json'), join(folder, `summary-${status}.md`)]
  const title = '$(touch owned) `touch owned` ::error::owned'
  const sides = { base: { sha: base, ref: 'main' }, head: { sha: head, ref: '--upload-pack=touch owned' } }
  writeFileSync(event, JSON.stringify({ action: 'opened', pull_request: { number: 7, title, body: title, ...sides } }))
  const child = spawn(process.execPath, [main], {
    cwd: repository.folder,
    env: {
      ...process.env,
      PATH: path,
      ...{ GITHUB_EVENT_PATH: event, GITHUB_STEP_SUMMARY: summary, GITHUB_REPOSITORY: 'owner/name' },
      GITHUB_API_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
      'INPUT_GITHUB-TOKEN': 'secret-token',
      'INPUT_FAIL-IF-SLOWER': limit,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  const [code] = (await once(child, 'close')) as [number]
  api.close()
  return { code, output, summary: existsSync(summary) ? readFileSync(summary, 'utf8') : '', writes }
}

it('comments on the pull request, writes the summary, and fails for a slower case', async () => {
  const { code, output, summary, writes } = await runAction(201)
  expect(output).toContain(`${base.slice(0, 12)}: checkout of`)
  expect(summary).toContain('🔴 **slower**')
  expect(writes).toHaveLength(1)
  expect(writes[0]).toMatch(/^POST \/repos\/owner\/name\/issues\/7\/comments \{"body":"<!-- speed-bounds /)
  expect(writes[0]).toContain('🔴 **slower**')
  expect(output).toContain('::error::A case is slower by more than 5%. The step summary has the comparison.\n')
  expect(output + summary + writes[0]).not.toContain('owned')
  expect(code).toBe(1)
  expect(repository.git('status', '--porcelain')).toBe('')
})

it('falls back to the summary with a token that may only read', async () => {
  const { code, output, summary } = await runAction(403)
  expect(output).toContain('::notice::The token may not write comments. The result is in the step summary.')
  expect(summary).toContain('🔴 **slower**')
  expect(code).toBe(1)
})

it('annotates the step with a mistake in its inputs', async () => {
  const { code, output } = await runAction(201, { limit: 'five' })
  expect(output).toMatch(/^::error::option '--fail-if-slower <percent>' argument 'five' is invalid\. .+ 5%\.$/m)
  expect(code).toBe(2)
})

it.skipIf(process.platform === 'win32')('runs servers with the Node of the job', async () => {
  const node = join(folder, 'node')
  const seen = join(folder, 'seen')
  writeFileSync(node, `#!/bin/sh\necho "$2" >> '${seen}'\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 })
  await runAction(201, { path: [folder, process.env['PATH']].join(delimiter) })
  expect(readFileSync(seen, 'utf8')).toMatch(/^compare$/m)
})

// The guides that lead to aggregator-gateway, in an empty folder with its tarball: files word for word, but for the ports.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import getPort from 'get-port'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { run, Tarball } from './tarball.ts'

const tarball = new Tarball('aggregator-gateway')
const { project } = tarball
const SERVICES = /```ts\n(\/\/ services\.ts\n[\s\S]*?)```/

interface Guide {
  /** Files by name. */
  readonly files: Readonly<Record<string, string>>
  /** Ports by those of the guide. */
  readonly ports: Readonly<Record<string, number>>
}

async function readGuide(name: string): Promise<Guide> {
  const folder = join(import.meta.dirname, '../../docs/guides')
  let text = readFileSync(join(folder, `${name}.md`), 'utf8')
  if (!SERVICES.test(text)) text += SERVICES.exec(readFileSync(join(folder, 'from-express-axios.md'), 'utf8'))![0]
  const ports = Object.fromEntries(
    await Promise.all([3000, 3001, 3002].map(async (port) => [port, await getPort()] as const)),
  )
  for (const [port, free] of Object.entries(ports))
    text = text.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), String(free))
  const programs = [...text.matchAll(/```ts\n\/\/ (\S+\.ts)\n([\s\S]*?)```/g)].map(([, file, code]) => [file!, code!])
  const config = [...text.matchAll(/```json\n([\s\S]*?)```/g)]
    .map(([, json]) => json!)
    .find((json) => json.includes('upstreams'))!
  return { files: { ...Object.fromEntries(programs), 'gateway.json': config }, ports }
}

/** Starts a program of the project, until the test ends. */
function start(...args: string[]): void {
  const child = spawn(process.execPath, args, { cwd: project, stdio: 'inherit' })
  const closed = once(child, 'close')
  onTestFinished(async () => {
    child.kill()
    await closed
  })
}

/** The response, as soon as the server listens. */
async function responseOf(port: number, path: string): Promise<string> {
  let text = ''
  await expect
    .poll(async () => {
      const response = await fetch(`http://localhost:${port}${path}`)
      text = await response.text()
      return response.status
    })
    .toBe(200)
  return text
}

beforeAll(() =>
  tarball.install({ 'package.json': '{ "private": true, "type": "module" }\n' }, ['fastify', 'express', 'axios']),
)

afterAll(() => tarball.remove())

describe.each(['from-express-axios', 'from-krakend'])('the guide %s', (name) => {
  it('has a valid configuration, which responds as it says', async () => {
    const { files, ports } = await readGuide(name)
    for (const [file, content] of Object.entries(files)) writeFileSync(join(project, file), content)
    const command = tarball.program('aggregator-gateway')
    const { code, output } = await run(project, [command, '--check', 'gateway.json'])
    expect({ code, output }).toEqual({ code: 0, output: 'gateway.json is valid: 1 upstream, 1 endpoint\n' })

    start('services.ts')
    start(join('node_modules', 'aggregator-gateway', 'dist', 'cli', 'main.js'), 'gateway.json')
    const response = await responseOf(ports['3002']!, '/dashboard/7')
    expect(JSON.parse(response)).toMatchObject({ profile: { url: '/users/7' }, invoices: { url: '/invoices/9' } })
    if (!('before.ts' in files)) return
    start('before.ts')
    for (const path of ['/dashboard/7', '/dashboard/7?offers=1']) {
      expect(JSON.parse(await responseOf(ports['3002']!, path))).toEqual(
        JSON.parse(await responseOf(ports['3000']!, path)),
      )
    }
  })
})

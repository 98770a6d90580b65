// The guides that lead to trpc-fastify, in an empty folder with its tarball: files word for word, but for the ports.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import getPort from 'get-port'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { Tarball, tsconfig } from './tarball.ts'

const tarball = new Tarball('trpc-fastify')
const { project } = tarball

interface Guide {
  /** Files by name. */
  readonly files: Readonly<Record<string, string>>
  /** Free ports by those of the guide. */
  readonly ports: Readonly<Record<3000 | 3001, number>>
  /** Paths and bodies of the commands that ask the new server. */
  readonly requests: readonly { path: string; method: string; body: string | undefined }[]
}

async function readGuide(name: string): Promise<Guide> {
  const text = readFileSync(join(import.meta.dirname, `../../docs/guides/${name}.md`), 'utf8')
  const ports = { 3000: await getPort(), 3001: await getPort() }
  const files = [...text.matchAll(/```ts\n\/\/ (\S+\.ts)\n([\s\S]*?)```/g)].map(([, file, code]) => [
    file!,
    code!.replaceAll(/\b300[01]\b/g, (port) => String(ports[Number(port) as 3000 | 3001])),
  ])
  const requests = [...text.matchAll(/^curl (?:-X (\w+) )?'http:\/\/localhost:3001([^']+)'(?: --json '(.*)')?$/gm)].map(
    ([, method, path, body]) => ({ path: path!, body, method: method ?? (body === undefined ? 'GET' : 'POST') }),
  )
  return { files: Object.fromEntries(files) as Guide['files'], ports, requests }
}

/** Starts a program of the project, until the test ends. */
function start(file: string): void {
  const child = spawn(process.execPath, [file], {
    cwd: project,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: 'inherit',
  })
  const closed = once(child, 'close')
  onTestFinished(async () => {
    child.kill()
    await closed
  })
}

/** The response, as soon as the server listens. */
async function ask(port: number, { path, method, body }: Guide['requests'][number]): Promise<[number, string]> {
  let response: Response | undefined
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  await expect
    .poll(
      async () => (response = await fetch(`http://localhost:${port}${path}`, { method, headers, body: body ?? null })),
    )
    .toBeDefined()
  return [response!.status, await response!.text()]
}

/** The same without `data` of an error, which trpc-to-openapi adds. */
function withoutData([status, body]: [number, string]): [number, string] {
  return [status, status < 400 ? body : body.replace(/,"data":\{[^{}]*\}\}$/, '}')]
}

beforeAll(() =>
  tarball.install({ 'package.json': '{ "private": true, "type": "module" }\n' }, [
    ...['fastify', '@fastify/swagger', '@trpc/server', 'zod', 'zod-openapi', 'trpc-to-openapi', '@types/node'],
  ]),
)

afterAll(() => tarball.remove())

it.each(['from-fastify-trpc-plugin', 'from-trpc-to-openapi'])(
  'the guide %s has programs that compile and respond the same',
  async (name) => {
    const { files, ports, requests } = await readGuide(name)
    expect(Object.keys(files)).toEqual(['router.ts', 'before.ts', 'after.ts'])
    for (const [file, content] of Object.entries(files)) writeFileSync(join(project, file), content)
    onTestFinished(() => Object.keys(files).forEach((file) => rmSync(join(project, file))))
    writeFileSync(join(project, 'tsconfig.json'), tsconfig(Object.keys(files)))
    expect(await tarball.tsc('--allowImportingTsExtensions')).toMatchObject({ code: 0, output: '' })

    start('before.ts')
    start('after.ts')
    const compared = requests.filter(({ path }) => path !== '/openapi.json')
    expect(compared.length).toBeGreaterThan(2)
    for (const request of compared) {
      const [before, after] = await Promise.all([ask(ports[3000], request), ask(ports[3001], request)])
      expect(after).toEqual(name === 'from-trpc-to-openapi' ? withoutData(before) : before)
    }
    if (compared.length === requests.length) return
    const [, document] = await ask(ports[3001], { path: '/openapi.json', method: 'GET', body: undefined })
    expect(Object.keys((JSON.parse(document) as { paths: object }).paths)).toEqual(['/api/users/{id}'])
  },
)

// What people get: the tarball, in an empty project, and what the README tells them to do with it.

import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run, Tarball, tsconfig } from './tarball.ts'
import { isWellPacked } from './well-packed.ts'

const tarball = new Tarball('next-on-fastify')
const { project } = tarball

const readme = readFileSync(join(tarball.source, 'README.md'), 'utf8')
const pages = globSync('docs/*.md', { cwd: tarball.source }).map((page) =>
  readFileSync(join(tarball.source, page), 'utf8'),
)
/** The files of the README and of the other pages, by name. */
const samples = Object.fromEntries(
  [...[readme, ...pages].join('\n').matchAll(/```[jt]s\n(\/\/ (\S+\.[jt]s)\n[\s\S]*?)```/g)].map(([, text, name]) => [
    name!,
    text!,
  ]),
)
/** Without `tracing.ts`, whose SDK of OpenTelemetry has dozens of packages. */
const programs = Object.keys(samples).filter((name) => name.endsWith('.ts') && name !== 'tracing.ts')
/** The quick start, on any port, which it tells. */
const server = samples['server.ts']!.replace(
  'await app.listen({ port: 3000 })',
  "console.log('at', await app.listen({ port: 0, host: '127.0.0.1' }))",
)
/** What to ask it, and what it answers. */
const [, path, answer] = /curl http:\/\/localhost:3000(\S*) +# (.*)/.exec(readme)!

/** Under pnpm, NODE_PATH has what this workspace has installed. */
const WITHOUT_PATH = ['env', '-u', 'NODE_PATH'] as const

const FILES = {
  ...samples,
  'package.json': '{ "private": true, "type": "module" }\n',
  'server.ts': server,
  'types.ts': `
import Fastify from 'fastify'
import { createNextOnFastify, nextPlugin, routableUrl, type NextPluginOptions } from 'next-on-fastify'
import { fastifyRequest, fastifyRequestOf } from 'next-on-fastify/request'

const options = { dir: 'web', dev: false, logLevel: 'warn', responseCache: false } satisfies NextPluginOptions
await Fastify({ rewriteUrl: routableUrl }).register(nextPlugin, options)
await createNextOnFastify({ ...options, fastify: { logger: true } })
await Fastify({ http2: true }).register(nextPlugin, options)
await Fastify().register(import('next-on-fastify'), options)
export const whose = async (): Promise<string> => (await fastifyRequest()).ip
export const getServerSideProps = ({ req }: { req: Parameters<typeof fastifyRequestOf>[0] }) => fastifyRequestOf(req).ip
// @ts-expect-error There is no such level.
await createNextOnFastify({ logLevel: 'loud' })
`,
  'tsconfig.json': tsconfig(['types.ts', ...programs]),
}

beforeAll(() => {
  mkdirSync(join(project, 'web/app/me'), { recursive: true })
  const peers = ['fastify', 'next', 'react', 'react-dom', '@types/node', 'prom-client', 'redis', '@fastify/helmet']
  return tarball.install(FILES, peers)
})

afterAll(() => tarball.remove())

isWellPacked(tarball, {
  dependencies: [
    '@fastify/error',
    'checked-options',
    'fastify-plugin',
    'fastify-write-batching',
    'lru-cache',
    'on-headers',
    'semver',
    'vary',
  ],
  values: ['bareClientError', 'createNextOnFastify', 'default', 'errorCodes', 'nextPlugin', 'routableUrl'],
  types: [
    'CdnOptions',
    'CompressionOptions',
    'CreateNextOnFastifyOptions',
    'GracefulStopOptions',
    'MachineCacheOptions',
    'NextObserver',
    'NextPluginOptions',
    'NextRouteHandler',
    'NextRouteOptions',
    'NextStats',
    'ObservedNext',
    'RedisCacheOptions',
    'ResponseCacheOptions',
    'ResponseCacheStats',
    'Revalidation',
    'RouterBypassStats',
    'ServedRequest',
    'TagHeader',
  ],
})

describe('in an empty project', () => {
  it('the quick start of the README answers as the README says, and has the pages of Next', async () => {
    expect(server).not.toBe(samples['server.ts'])
    expect(readme).toContain('npm install next-on-fastify fastify next react react-dom')
    let answers: Promise<string[]> | undefined
    const ask = async (address: string): Promise<string> => (await fetch(address)).text()
    const { output } = await run(
      project,
      ['env', 'NEXT_TELEMETRY_DISABLED=1', process.execPath, 'server.ts'],
      (said, end) => {
        const address = /^at (\S+)\n/m.exec(said)?.[1]
        if (address === undefined) return
        answers ??= Promise.all([ask(address + path), ask(address), ask(`${address}/me`)]).finally(end)
      },
    )
    if (!answers) throw new Error(`It never listened:\n${output}`)
    const [api, page, own] = await answers
    expect(api).toBe(answer)
    expect(page).toContain('<h1>Hello from Next</h1>')
    expect(own!.replaceAll('<!-- -->', '')).toMatch(/<p>req-\w+ of 127\.0\.0\.1<\/p>/)
  })

  it.each([
    ['require()', 'commonjs', "const all = require('next-on-fastify/prometheus')"],
    ['import', 'module', "const all = await import('next-on-fastify/prometheus')"],
  ])('%s gives the observer of metrics', async (_, type, load) => {
    const program = `${load}; console.log(Object.keys(all).join(), typeof all.prometheusObserver)`
    const { code, output } = await run(project, [process.execPath, `--input-type=${type}`, '-e', program])
    expect({ code, output }).toEqual({ code: 0, output: 'prometheusObserver function\n' })
  })

  it('without `next`, it rejects with a code and the cause', async () => {
    const program = `
      import { createNextOnFastify } from 'next-on-fastify'
      await createNextOnFastify({ dir: '/' }).catch(({ code, cause }) => console.log(code, cause.code))`
    const { output } = await run(project, [...WITHOUT_PATH, process.execPath, '--input-type=module', '-e', program])
    expect(output).toBe('NEXT_ON_FASTIFY_NEXT_MISSING MODULE_NOT_FOUND\n')
  })

  it('tsc accepts the programs of the README and what uses the types, and finds mistakes', async () => {
    expect(await tarball.tsc()).toEqual({ code: 0, stdout: '', output: '' })
  })

  it('tsc finds no error within the types themselves', async () => {
    expect(await tarball.errorsInTypes()).toEqual([])
  })
})

// What people get: the tarball, in an empty project, and what the README tells them to do with it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run, Tarball, tsconfig } from './tarball.ts'
import { isWellPacked } from './well-packed.ts'

const tarball = new Tarball('fastify-write-batching')
const { project } = tarball

const readme = readFileSync(join(tarball.source, 'README.md'), 'utf8')
/** The programs of the README by name. */
const samples = Object.fromEntries(
  [...readme.matchAll(/```ts\n(\/\/ (\S+\.ts)\n[\s\S]*?)```/g)].map(([, text, name]) => [name!, text!]),
)
/** The server without Fastify, on any port, with a request to itself. */
const plain = samples['plain.ts']!.replace('createServer(', 'const server = createServer(').replace(
  'listen(3000)',
  `listen(0, '127.0.0.1', async () => {
  const { port } = server.address() as import('node:net').AddressInfo
  console.log(await (await fetch(\`http://127.0.0.1:\${port}\`)).text())
  server.close()
  server.closeAllConnections()
})`,
)

const FILES = {
  'package.json': '{ "private": true, "type": "module" }\n',
  ...samples,
  'plain.ts': plain,
  'types.ts': `
import Fastify from 'fastify'
import { BusyTick } from 'fastify-write-batching/busy-tick'
import fastifyWriteBatching, { createWriteBatch, errorCodes, type WriteBatch, type WriteBatchingStats } from 'fastify-write-batching'

const app = Fastify()
await app.register(fastifyWriteBatching)
await app.register(import('fastify-write-batching'))
export const stats: WriteBatchingStats = app.writeBatchingStats()
export const batch: WriteBatch = createWriteBatch()
if (batch.shouldDefer(100)) batch.defer(() => console.log(batch.batched), 100)
export const waits: boolean = new BusyTick().count()
export const isOurs = (error: unknown): boolean => error instanceof errorCodes.FASTIFY_WRITE_BATCHING_INVALID_OPTION
// @ts-expect-error There are no options.
await app.register(fastifyWriteBatching, { enabled: true })
`,
  'tsconfig.json': tsconfig(['types.ts', ...Object.keys(samples)]),
}

beforeAll(() => tarball.install(FILES, ['fastify', '@types/node']))

afterAll(() => tarball.remove())

isWellPacked(tarball, {
  dependencies: ['@fastify/error', 'fastify-plugin'],
  values: ['batchConnection', 'createWriteBatch', 'default', 'errorCodes', 'fastifyWriteBatching'],
  types: ['FastifyWriteBatchingOptions', 'WriteBatch', 'WriteBatchingStats'],
})

describe('in an empty project', () => {
  it.each([
    ['import() in an ES module', 'module', "import('fastify-write-batching')"],
    ['require()', 'commonjs', "require('fastify-write-batching')"],
    ['the default of require()', 'commonjs', "require('fastify-write-batching').default"],
  ])('Fastify registers the plugin by %s', async (_name, type, plugin) => {
    const program = `
      async function main() {
        const app = (await import('fastify')).default()
        await app.register(${plugin})
        console.log(JSON.stringify(app.writeBatchingStats()))
      }
      main()`
    const { output } = await run(project, [process.execPath, `--input-type=${type}`, '-e', program])
    expect(output).toBe('{"batched":0,"immediate":0}\n')
  })

  it('the server without Fastify of the README responds', async () => {
    expect(plain).toContain('server.close()')
    expect(await run(project, [process.execPath, 'plain.ts'])).toMatchObject({ code: 0, output: 'hello\n' })
  })

  it('tsc accepts the programs of the README and what uses the types, and finds mistakes', async () => {
    expect(await tarball.tsc()).toEqual({ code: 0, stdout: '', output: '' })
  })

  it('tsc finds no error within the types themselves', async () => {
    expect(await tarball.errorsInTypes()).toEqual([])
  })
})

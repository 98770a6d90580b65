// What people get: the tarball, in an empty project, and what the README tells them to do with it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run, Tarball, tsconfig } from './tarball.ts'
import { isWellPacked } from './well-packed.ts'

const tarball = new Tarball('trpc-fastify')
const { project } = tarball

const readme = readFileSync(join(tarball.source, 'README.md'), 'utf8')
/** The quick start, on any port, which it tells. */
const quickStart = /```ts\n(\/\/ server\.ts\n[\s\S]*?)```/.exec(readme)![1]!
const server = quickStart.replace(
  'await app.listen({ port: 3000 })',
  "console.log('at', await app.listen({ port: 0, host: '127.0.0.1' }))",
)
/** What to ask it, and what it answers. */
const [, path, answer] = /curl 'http:\/\/localhost:3000([^']*)' +# (.*)/.exec(readme)!

const FILES = {
  'package.json': '{ "private": true, "type": "module" }\n',
  'server.ts': server,
  'types.ts': `
import { initTRPC } from '@trpc/server'
import Fastify from 'fastify'
import { createTrpcFastify, trpcPlugin, type CreateFastifyContextOptions, type TrpcPluginOptions } from 'trpc-fastify'

const t = initTRPC.context<{ user: string }>().create()
const appRouter = t.router({ hello: t.procedure.query(({ ctx }) => ctx.user) })
type AppRouter = typeof appRouter
const createContext = ({ req }: CreateFastifyContextOptions) => ({ user: req.hostname })

const app = Fastify()
await app.register(trpcPlugin, {
  prefix: '/trpc',
  trpcOptions: {
    router: appRouter,
    createContext,
    onError: ({ path, error }) => app.log.error({ path, err: error }, 'tRPC error'),
  } satisfies TrpcPluginOptions<AppRouter>['trpcOptions'],
})
await app.register(trpcPlugin<AppRouter>, {
  prefix: '/ruled',
  trpcOptions: { router: appRouter, createContext, onError: ({ error }) => app.log.error(error) },
  procedures: {
    hello: { onRequest: (request, reply, done) => done(request.id === '' ? new Error(reply.sent ? 'late' : 'no id') : undefined) },
    '*': { preHandler: async ({ headers }) => void headers.host, timeout: 1000 },
  },
  observers: [{ callEnded: ({ path, duration, error }) => app.log.info({ path, duration, code: error?.code }) }],
})
export const fast: number | undefined = app.trpcStats('/trpc')?.compiled

await app.register(import('trpc-fastify'), { prefix: '/imported', trpcOptions: { router: appRouter, createContext } })

await createTrpcFastify({ router: appRouter, createContext, prefix: '/trpc', fastify: { logger: true } })
// @ts-expect-error The router has a context, so something must create it.
await createTrpcFastify({ router: appRouter })
`,
  'tsconfig.json': tsconfig(['server.ts', 'types.ts']),
}

beforeAll(() => tarball.install(FILES, ['fastify', '@trpc/server', 'zod', '@types/node', '@opentelemetry/api']))

afterAll(() => tarball.remove())

isWellPacked(tarball, {
  dependencies: [
    '@fastify/error',
    'checked-options',
    'fast-json-stringify',
    'fastify-plugin',
    'fastify-write-batching',
    'p-limit',
  ],
  values: ['createTrpcFastify', 'default', 'errorCodes', 'reconnectOnClose', 'trpcPlugin'],
  types: [
    'CallRecord',
    'CreateFastifyContextOptions',
    'CreateTrpcFastifyOptions',
    'FallbackReason',
    'ObservedCall',
    'ProcedureRule',
    'RateLimitResult',
    'SerializerOption',
    'TrpcHandlerOptions',
    'TrpcObserver',
    'TrpcPluginOptions',
    'TrpcStats',
    'TrpcWebSocketOptions',
  ],
})

describe('in an empty project', () => {
  it('the quick start of the README answers as the README says', async () => {
    expect(server).not.toBe(quickStart)
    expect(readme).toContain('npm install trpc-fastify @trpc/server fastify zod')
    let body: Promise<string> | undefined
    const { output } = await run(project, [process.execPath, 'server.ts'], (said, end) => {
      const address = /^at (\S+)\n/m.exec(said)?.[1]
      if (address !== undefined) {
        body ??= fetch(`${address}${path}`)
          .then((response) => response.text())
          .finally(end)
      }
    })
    if (!body) throw new Error(`It never listened:\n${output}`)
    expect(await body).toBe(answer)
  })

  it.each([
    ['import() in an ES module', 'module', "import('trpc-fastify')"],
    ['import() in CommonJS', 'commonjs', "import('trpc-fastify')"],
    ['require()', 'commonjs', "require('trpc-fastify')"],
    ['the default of require()', 'commonjs', "require('trpc-fastify').default"],
    ['the name of require()', 'commonjs', "require('trpc-fastify').trpcPlugin"],
  ])('Fastify registers the plugin by %s', async (_name, type, plugin) => {
    const program = `
      async function main() {
        const { initTRPC } = await import('@trpc/server')
        const t = initTRPC.create()
        const router = t.router({ hello: t.procedure.query(() => 'world') })
        const app = (await import('fastify')).default()
        app.register(${plugin}, { prefix: '/trpc', trpcOptions: { router } })
        console.log((await app.inject('/trpc/hello')).body)
      }
      main()`
    const { output } = await run(project, [process.execPath, `--input-type=${type}`, '-e', program])
    expect(output).toBe('{"result":{"data":"world"}}\n')
  })

  it.each([
    ['require()', "const observers = require('trpc-fastify/opentelemetry')"],
    ['import', "const observers = await import('trpc-fastify/opentelemetry')"],
  ])('%s gives the observer of OpenTelemetry, which takes calls', async (_how, load) => {
    const program = `async function main() {
      ${load}
      const { trpcPlugin } = await import('trpc-fastify')
      const { initTRPC } = await import('@trpc/server')
      const t = initTRPC.create()
      const router = t.router({ hello: t.procedure.query(() => 'world') })
      const app = (await import('fastify')).default()
      app.register(trpcPlugin, { trpcOptions: { router }, observers: [observers.openTelemetryObserver()] })
      console.log((await app.inject('/hello')).body)
    }
    main()`
    const { output } = await run(project, [process.execPath, '--input-type=commonjs', '-e', program])
    expect(output).toBe('{"result":{"data":"world"}}\n')
  })

  it('the tarball serves procedures as routes', async () => {
    const program = `
      import { initTRPC } from '@trpc/server'
      import Fastify from 'fastify'
      import { openApiPlugin } from 'trpc-fastify/openapi'
      import { z } from 'zod'
      const t = initTRPC.meta().create()
      const greet = t.procedure.meta({ openapi: { method: 'GET', path: '/greet/{name}' } })
      const router = t.router({ greet: greet.input(z.object({ name: z.string() })).query(({ input }) => input) })
      const app = Fastify()
      await app.register(openApiPlugin, { prefix: '/api', trpcOptions: { router } })
      console.log((await app.inject('/api/greet/Ada')).body)`
    const { output } = await run(project, [process.execPath, '--input-type=module', '-e', program])
    expect(output).toBe('{"name":"Ada"}\n')
  })

  it('without @fastify/websocket, `useWSS` rejects with a code and the cause', async () => {
    const program = `
      import { initTRPC } from '@trpc/server'
      import { createTrpcFastify } from 'trpc-fastify'
      await createTrpcFastify({ router: initTRPC.create().router({}), useWSS: true }).catch(({ code, cause }) => {
        console.log(code, cause.code)
      })`
    const { output } = await run(project, [process.execPath, '--input-type=module', '-e', program])
    expect(output).toBe('TRPC_FASTIFY_WEBSOCKET_MISSING ERR_MODULE_NOT_FOUND\n')
  })

  it('tsc accepts the quick start and what uses the types, and finds mistakes', async () => {
    expect(await tarball.tsc()).toEqual({ code: 0, stdout: '', output: '' })
  })

  it('tsc without skipLibCheck finds no error in any types: none needs @types/ws', async () => {
    expect(await tarball.tsc('--skipLibCheck', 'false')).toEqual({ code: 0, stdout: '', output: '' })
  })

  it('tsc finds no error within the types themselves', async () => {
    expect(await tarball.errorsInTypes()).toEqual([])
  })
})

/** An app of `test/fixtures/apps`, and its row in docs/apps.md. */
export interface AppKind {
  readonly app: string
  readonly row: string
}

const ITSELF = 'no default export, but a server that listens by itself, at once or later, as in `bootstrap()` of NestJS'
const LISTENER = 'Express 4 or 5, or any function of a request and a response'
const COMPILED = 'CommonJS compiled by TypeScript or Babel (`exports.default`)'
const SERVER = 'a server of `node:http`, `node:https` or `node:http2`, also with ALPN'

/** Apps that take plain HTTP. */
export const appKinds: readonly AppKind[] = [
  { app: 'listens.ts', row: ITSELF },
  { app: 'listens-later.ts', row: ITSELF },
  { app: 'compiled-listener.cts', row: ITSELF },
  { app: 'handler.ts', row: LISTENER },
  { app: 'async-listener.ts', row: LISTENER },
  { app: 'express-like.ts', row: LISTENER },
  { app: 'express-4.ts', row: LISTENER },
  { app: 'express-5.ts', row: LISTENER },
  { app: 'koa.ts', row: 'Koa' },
  { app: 'hono.ts', row: 'Hono, or any object with `fetch(request)`' },
  { app: 'fastify.ts', row: 'Fastify' },
  { app: 'plugin.ts', row: 'a plugin of Fastify, as fastify-cli starts it: `async function (fastify, opts) {}`' },
  { app: 'web-socket.ts', row: SERVER },
  { app: 'compiled.cts', row: COMPILED },
  { app: 'compiled-twice.cts', row: COMPILED },
]

/** Rows whose apps are reloaded under load elsewhere: in `test/live/clustered-apps.test.ts` of the repository. */
export const rowsElsewhere: readonly string[] = ['NestJS']

import { fileURLToPath } from 'node:url'
import type { CaseOptions, ComparedResponse, Subject } from 'speed-bounds'

const folder = new URL('../../examples/http-frameworks/', import.meta.url)

export const subjects: Record<
  | 'node-http'
  | 'express'
  | 'fastify'
  | 'fastify-schema'
  | 'fastify-write-batching'
  | 'fastify-express'
  | 'nestjs-express'
  | 'nestjs-fastify',
  Subject
> = {
  'node-http': new URL('node-http.ts', folder),
  express: new URL('express.ts', folder),
  fastify: new URL('fastify.ts', folder),
  'fastify-schema': new URL('fastify-schema.ts', folder),
  'fastify-write-batching': new URL('fastify-write-batching.ts', folder),
  'fastify-express': new URL('fastify-express.ts', folder),
  'nestjs-express': new URL('nestjs-express.ts', folder),
  'nestjs-fastify': new URL('nestjs-fastify.ts', folder),
}

/** Fastify with write batching and without, each with HAProxy before it on the same machine. */
export const proxied: Record<'fastify' | 'fastify-write-batching', Subject> = {
  fastify: behindHaproxy('fastify.ts'),
  'fastify-write-batching': behindHaproxy('fastify-write-batching.ts'),
}

/** Modules that export an app, which does not listen. */
export const apps: Record<'express' | 'nestjs', URL> = {
  express: new URL('express-default.ts', folder),
  nestjs: new URL('nestjs-default.ts', folder),
}

export const cases: Record<'text' | 'hello' | 'json' | 'missing', CaseOptions> = {
  /** The request of seed 003. */
  text: { path: '/api?name=john&lastname=doe', expect: { body: 'john doe' } },
  /** The request of seed 004. */
  hello: { path: '/', expect: { body: 'Hello World!' } },
  json: { path: '/json' },
  /** Each framework has its own 404 page, so bodies are not compared. */
  missing: { path: '/missing', expect: { status: 404, body: '' }, compareHeaders: [], normalize: withoutBody },
}

function behindHaproxy(server: string): Subject {
  return { file: new URL('behind-haproxy.ts', import.meta.url), args: [fileURLToPath(new URL(server, folder))] }
}

function withoutBody(answer: ComparedResponse): ComparedResponse {
  return { ...answer, body: '' }
}

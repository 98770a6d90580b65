// Tests run with the newest versions of the peers, and in the project `lowest` with the oldest of the peer ranges:
// what only newer ones have stands here, so that a test can tell what to expect of those that it runs with.

import { readFileSync } from 'node:fs'
import { createRequire, findPackageJSON } from 'node:module'
import fastifyWebsocket from '@fastify/websocket/package.json' with { type: 'json' }
import { trace } from '@opentelemetry/api'
import trpcServer from '@trpc/server/package.json' with { type: 'json' }
import type { FastifyServerOptions } from 'fastify'
import fastify from 'fastify/package.json' with { type: 'json' }

/** Of a package that may not export its package.json. */
export const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(findPackageJSON(name, import.meta.url)!, 'utf8')) as { version: string }).version

// Node's own, which knows no aliases.
const require = createRequire(import.meta.url)
const isLowestApi = trace === (require('opentelemetry-api-lowest') as { trace: unknown }).trace

/** By the name that tests and sources import. */
export const VERSIONS = {
  '@fastify/websocket': fastifyWebsocket.version,
  '@opentelemetry/api': versionOf(isLowestApi ? 'opentelemetry-api-lowest' : '@opentelemetry/api'),
  '@trpc/server': trpcServer.version,
  fastify: fastify.version,
} as const

const since = (name: keyof typeof VERSIONS, first: string): boolean =>
  VERSIONS[name].localeCompare(first, 'en', { numeric: true }) >= 0

/** What the newest versions have, and the oldest do not. */
export const HAS = {
  // On npm, 11.25.2 comes after 11.23.0, which has none of these.
  /** tRPC knows `pathSeparator`: without it, dots separate. */
  pathSeparator: since('@trpc/server', '11.25.2'),
  /** tRPC takes a body without a character as no input, and not as malformed JSON. */
  emptyBodies: since('@trpc/server', '11.25.2'),
  /** tRPC's Fastify adapter knows `maxBodySize`. */
  maxBodySize: since('@trpc/server', '11.25.2'),
  /** `maxBatchSize` holds for WebSockets too. */
  maxBatchSizeOfWebSockets: since('@trpc/server', '11.25.2'),
  /** tRPC lets observables complete that nobody listens to any more, and does not throw. */
  lateCompletion: since('@trpc/server', '11.25.2'),

  /** The case of content types does not count. */
  caseInsensitiveContentTypes: since('fastify', '5.1.0'),
  /** Options of the router have an object of their own. */
  routerOptions: since('fastify', '5.5.0'),
  /** The head of an answer waits for the first chunk of a web stream: an error before it ends the connection. */
  headWithFirstChunk: since('fastify', '5.7.0'),
  /** Spaces around content types do not count. */
  trimmedContentTypes: since('fastify', '5.7.2'),
  /** A parameter that is too long has an error of its own, and is not taken for another route's. */
  longParameterError: since('fastify', '5.9.0'),
  /** `content-length` counts the bytes that came, and not those of the text that was made of them. */
  lengthOfBytes: since('fastify', '5.12.6'),
} as const

/** Options of Fastify's router, where the installed version looks for them. */
export const routing = (options: NonNullable<FastifyServerOptions['routerOptions']>): FastifyServerOptions =>
  HAS.routerOptions ? { routerOptions: options } : options

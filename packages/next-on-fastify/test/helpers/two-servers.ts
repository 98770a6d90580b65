// One built app served twice in this process, with a memory and without: Next's cache is the same one for both, so that
// each difference is the memory's.

import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { request, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { createNextOnFastify, type ResponseCacheStats, type ResponseCacheOptions } from 'next-on-fastify'
import { builtFixture, type Peers } from './built-fixture.ts'

/** What came back, as it came. */
export interface Answer {
  readonly status: number
  readonly head: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** Without what Next 15 puts by chance into what it makes for one request, and how often the proxy has run. */
export function comparable({ status, head, body }: Answer): Answer {
  const own = head.filter(([name]) => name !== 'x-proxy-runs')
  return { status, head: own, body: body.replaceAll(/"\$1\\",\\"[\w-]{21}\\"/g, 'random') }
}

export interface Question {
  readonly path: string
  readonly method?: string
  readonly headers?: IncomingHttpHeaders
  readonly body?: string
}

export interface TwoServers {
  /** Folder of the app, which is a copy of its own. */
  readonly dir: string
  /** The app whose answers are kept. */
  readonly app: FastifyInstance
  /** Asks the app that has a memory. */
  kept(question: Question): Promise<Answer>
  /** Asks the app that has none. */
  next(question: Question): Promise<Answer>
  counts(): Readonly<ResponseCacheStats>
  close(): Promise<void>
}

export async function twoServers(
  peers: Peers,
  responseCache?: ResponseCacheOptions,
  fastify: FastifyServerOptions = {},
  prepare: (app: FastifyInstance) => void = () => {},
  variant = 'plain',
): Promise<TwoServers> {
  // Next reads the configuration again when it starts.
  const env = { MEMORY_FIXTURE: variant }
  Object.assign(process.env, env, { NODE_ENV: 'production' })
  const built = await builtFixture(peers, env, 'cached')
  const dir = mkdtempSync(join(built, '../copy-'))
  cpSync(built, dir, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  const app = await createNextOnFastify({
    dir,
    dev: false,
    ...(responseCache && { responseCache }),
    fastify,
  })
  const plain = await createNextOnFastify({ dir, dev: false, responseCache: false, fastify })
  prepare(app)
  prepare(plain)
  await Promise.all([app.listen({ port: 0 }), plain.listen({ port: 0 })])
  return {
    dir,
    app,
    kept: (question) => ask(app, question),
    next: (question) => ask(plain, question),
    counts: () => {
      const counts = app.nextStats()?.responseCache
      if (counts === undefined) throw new Error('nothing is cached')
      return counts
    },
    close: async () => {
      await Promise.all([app.close(), plain.close()])
      rmSync(dir, { recursive: true })
    },
  }
}

/** The same host at both, since Next makes absolute URLs of it. */
const HOST = 'app.example'

export async function ask(
  app: FastifyInstance,
  { path, method = 'GET', headers = {}, body }: Question,
): Promise<Answer> {
  const { port } = app.server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, method, headers: { host: HOST, ...headers }, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const raw = response.rawHeaders
        const head = raw.flatMap((name, index) =>
          index % 2 === 0 && name !== 'Date' ? [[name, raw[index + 1] ?? ''] as const] : [],
        )
        resolve({ status: response.statusCode ?? 0, head, body: Buffer.concat(chunks).toString('latin1') })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

// Nothing of a request is held once it has ended: no request, no response, no headers.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { NextPluginOptions } from 'next-on-fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'

const PROGRAM = fileURLToPath(new URL('../fixtures/servers/remembering.ts', import.meta.url))

const WAYS: Readonly<Record<string, Partial<NextPluginOptions>>> = {
  'by Next alone': {},
  'with a cache and past the router': { responseCache: { proxied: 'unmatched', brotli: true }, bypassRouter: 'all' },
  'with a cache behind the proxy, compressed': { responseCache: { proxied: 'always' }, compression: true },
  'with a cache that processes share': { responseCache: { proxied: 'unmatched' }, sharedCache: 'machine' },
}

interface Question {
  readonly path: string
  readonly method?: string
  readonly headers?: IncomingHttpHeaders
  readonly body?: string
}

const FORM = { 'content-type': 'multipart/form-data; boundary=b' }
const part = (name: string, value: string): string =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

describe.each(Object.entries(WAYS))('served %s', (_way, options) => {
  let child: ChildProcess
  let origin: string
  let dir: string
  let action: string

  beforeAll(async () => {
    const built = await builtFixture('newest')
    dir = mkdtempSync(join(built, '../copy-'))
    cpSync(built, dir, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
    const env = { ...process.env, NODE_ENV: 'production', OPTIONS: JSON.stringify({ dir, ...options }) }
    child = fork(PROGRAM, { env, execArgv: ['--expose-gc'] })
    ;[origin] = (await once(child, 'message')) as [string]
    const { text } = await ask({ path: '/form' })
    action = /name="(\$ACTION_ID_\w+)"/.exec(text)![1]!
    // What is loaded by the first request of a kind is Next's, and stays.
    for (const question of Object.values(questions())) await ask(question)
  }, BUILD_TIMEOUT)
  afterAll(() => {
    child.kill()
    rmSync(dir, { recursive: true })
  })

  /** Asks over a connection of its own: Node holds the last request of one that is kept alive. */
  async function ask({
    path,
    method = 'GET',
    headers = {},
    body,
  }: Question): Promise<{ status: number; text: string }> {
    const sent = httpRequest(origin + path, { method, headers, agent: false })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += String(chunk)
    return { status: response.statusCode!, text }
  }

  const questions = (): Readonly<Record<string, Question>> => ({
    'a page': { path: '/form' },
    'a page that asks for the request': { path: '/request' },
    'a cached page': { path: '/static' },
    'a cached page, compressed': { path: '/static', headers: { 'accept-encoding': 'gzip, br' } },
    'a server action': {
      path: '/form',
      method: 'POST',
      headers: { ...FORM, origin },
      body: `${part(action, '')}${part('name', 'Ada')}--b--\r\n`,
    },
    'a file': { path: '/hello.txt' },
    'a 404': { path: '/none' },
    'an upload': { path: '/echo', method: 'PUT', body: 'x'.repeat(500_000) },
    'an API route': { path: '/api/request' },
    'a stream': { path: '/stream?parts=2' },
    'a route that fails': { path: '/fails' },
    'what the proxy has responded to': { path: '/proxied' },
    'a URL that cannot be decoded': { path: '/%zz' },
    'an own route': { path: '/own' },
  })

  it.each(Object.keys(questions()))('nothing is held of %s', async (name) => {
    for (let time = 0; time < 3; time++) await ask(questions()[name]!)
    child.send('alive')
    const [alive] = (await once(child, 'message')) as [string[]]
    expect(alive).toEqual([])
  })
})

// A package that has the interface of Next and tells what it was asked: what this package does around Next, without a
// build. What Next itself does is for the tests in test/live.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
// Makes the place for the apps of a process.
import '../../src/next/one-app.ts'

const STAND_IN = `
module.exports = (options) => ({
  async prepare() {
    options.config = process.env.__NEXT_PRIVATE_STANDALONE_CONFIG
    if (options.dir.endsWith('without-build')) throw new Error("Could not find a production build in '.next'")
    if (options.dir.endsWith('broken')) throw new Error('No pages')
  },
  getRequestHandler: () => async (request, response) => {
    if (request.url === '/throws') throw new Error('thrown')
    let body = ''
    for await (const part of request) body += part
    const { method, url, headers } = request
    if (request.url === '/sets-cookie') response.setHeader('set-cookie', 'next=1')
    response.setHeader('content-type', 'application/json').setHeader('x-powered-by', 'Next.js')
    response.end(JSON.stringify({ method, url, headers, body, next: { ...options, httpServer: undefined } }))
  },
  async upgradeHandler(request, socket) {
    if (request.url === '/throws') throw new Error('thrown')
    if (request.url.endsWith('late')) {
      setTimeout(() => socket.write('HTTP/1.1 101 Late\\r\\nConnection: upgrade\\r\\n\\r\\n'), 100)
      return true
    }
    if (!request.url.includes('nobody')) socket.write('HTTP/1.1 101 Next\\r\\nConnection: upgrade\\r\\n\\r\\n')
  },
  ...(options.dir.endsWith('without-upgrades') && { upgradeHandler: undefined }),
  server: {
    getServer: async () => ({
      async prepare() {
        await new Promise((resolve) => setTimeout(resolve, 50))
        if (/logs-errors|register-fails/.test(options.dir)) process.on('uncaughtException', function nextLogs() {})
        if (options.dir.endsWith('logs-errors')) globalThis.register?.()
        if (options.dir.endsWith('register-fails')) throw new Error('No database')
        globalThis.registeredNext = (globalThis.registeredNext ?? 0) + 1
      },
    }),
  },
  async close() {
    globalThis.closedNext = (globalThis.closedNext ?? 0) + 1
  },
})
`

/** See one-app.ts. */
const appsOfProcess = (globalThis as { [place: symbol]: Map<unknown, unknown> })[Symbol.for('next-on-fastify.apps')]!

interface StandIn {
  version?: string
  /** The last part of the path of the folder. */
  name?: string
  /** What it was built with. */
  config?: object
  /** What of it can be loaded, if not all. */
  exports?: object
}

/** Folder of an app whose `next` is the stand-in. */
export function standInApp({ version = '16.4.6', name = 'app', config, exports }: StandIn = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'next-on-fastify-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
    // Each test stands for a process of its own.
    appsOfProcess.clear()
  })
  const dir = join(folder, name)
  const next = join(dir, 'node_modules/next')
  mkdirSync(next, { recursive: true })
  writeFileSync(
    join(next, 'package.json'),
    JSON.stringify({ name: 'next', version, main: 'index.js', ...(exports && { exports }) }),
  )
  writeFileSync(join(next, 'index.js'), STAND_IN)
  if (config !== undefined) {
    mkdirSync(join(dir, '.next'))
    writeFileSync(join(dir, '.next/required-server-files.json'), JSON.stringify({ config }))
  }
  return dir
}

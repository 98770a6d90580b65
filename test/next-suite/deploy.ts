#!/usr/bin/env node
// NEXT_TEST_DEPLOY_SCRIPT_PATH of Next's own test suite: builds the app in the working directory, serves it by
// next-on-fastify, and prints its URL. See packages/next-on-fastify/docs/compatibility.md.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { openSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import getPort from 'get-port'
import { BUILD_LOG, PID_FILE, SERVER_LOG, textOf } from './deployment.ts'

/** The tests run with NODE_ENV=test, by which Next would build something else. */
const { NODE_ENV: _, ...environment } = process.env

function runStep(...args: string[]): void {
  const log = openSync(BUILD_LOG, 'a')
  const { status, error } = spawnSync('pnpm', args, { env: environment, stdio: ['ignore', log, log] })
  if (status !== 0) throw new Error(`pnpm ${args.join(' ')} failed: ${error?.message ?? textOf(BUILD_LOG)}`)
}

/** Starts the server, which outlives this script. */
function startServer(port: number): ChildProcess {
  const log = openSync(SERVER_LOG, 'a')
  const child = spawn(process.execPath, [fileURLToPath(new URL('serve.ts', import.meta.url))], {
    detached: true,
    env: { ...environment, NODE_ENV: 'production', PORT: String(port) },
    stdio: ['ignore', log, log, 'ipc'],
  })
  writeFileSync(PID_FILE, String(child.pid))
  return child
}

try {
  runStep('install', '--ignore-workspace', '--no-frozen-lockfile')
  runStep('run', 'build')
  const port = await getPort()
  const server = startServer(port)
  const message = await Promise.race([once(server, 'message'), once(server, 'exit').then(() => undefined)])
  if (message === undefined) throw new Error(`The server has ended: ${textOf(SERVER_LOG)}`)
  server.disconnect()
  server.unref()
  // The only output: the tests read the URL from it.
  process.stdout.write(`http://localhost:${port}\n`)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}

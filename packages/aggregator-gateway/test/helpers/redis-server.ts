// A real Redis, or Valkey, of a test's own.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foundProgram, requireProgram } from '@test/required-program'
import { afterAll, beforeAll } from 'vitest'

const programs = ['redis-server', 'valkey-server']

/** Whether there is none. Where `CI` is set, there has to be one. */
export const isMissing: boolean = !requireProgram(programs, 'redis-server')

export interface RedisServer {
  /** Of its socket. */
  readonly path: string
  readonly child: ChildProcess
  start(): Promise<void>
  stop(): Promise<void>
}

/** One that runs while the tests of a suite do. */
export function redisServer(): RedisServer {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'))
  const path = join(folder, 'socket')
  let child: ChildProcess
  const server: RedisServer = {
    path,
    get child() {
      return child
    },
    async start() {
      child = spawn(foundProgram(programs)!, ['--port', '0', '--unixsocket', path, '--save', '', '--dir', folder])
      await new Promise<void>((resolve, reject) => {
        child.once('error', reject)
        child.once('exit', (code) => reject(new Error(`It ended with ${code}`)))
        child.stdout!.on('data', (text: Buffer) => text.toString().includes('ready to accept') && resolve())
      })
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
  beforeAll(() => server.start())
  afterAll(async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  })
  return server
}

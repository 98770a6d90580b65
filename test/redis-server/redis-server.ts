// A real Redis or Valkey for the tests of a file.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foundProgram, requireProgram } from '@test/required-program'
import { afterAll, beforeAll } from 'vitest'

const programs = ['redis-server', 'valkey-server']

/** Whether none is installed. With `CI` set, that fails the tests. */
export const isMissing: boolean = !requireProgram(programs, 'redis-server')

export interface RedisServer {
  /** Path of its UNIX socket. */
  readonly path: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Makes it hang until `resume()`. */
  pause(): Promise<void>
  resume(): Promise<void>
}

/** Runs a server during the tests of the file or `describe` block. */
export function redisServer(): RedisServer {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'))
  const path = join(folder, 'socket')
  let child: ChildProcess
  const server: RedisServer = {
    path,
    async start() {
      const options = ['--port', '0', '--unixsocket', path, '--save', '', '--dir', folder]
      child = spawn(foundProgram(programs)!, options, { stdio: ['ignore', 'pipe', 'inherit'] })
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
    async pause() {
      child.kill('SIGSTOP')
    },
    async resume() {
      child.kill('SIGCONT')
    },
  }
  beforeAll(() => server.start())
  afterAll(async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  })
  return server
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { isClusterWorker, recordProcess } from '../../../src/shared-cache/other-processes.ts'

let distDir: string
beforeEach(() => {
  distDir = mkdtempSync(join(tmpdir(), 'processes-'))
  mkdirSync(join(distDir, 'next-on-fastify/processes'), { recursive: true })
})
afterEach(() => {
  rmSync(distDir, { recursive: true })
  vi.unstubAllEnvs()
})

const recordOf = (pid: number): string => join(distDir, 'next-on-fastify/processes', String(pid))

describe('processes that serve one build', () => {
  it('are those that run, and neither this one nor those that have ended', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = spawn(process.execPath, ['-e', ''])
    await once(ended, 'exit')
    for (const pid of [child.pid!, ended.pid!]) writeFileSync(recordOf(pid), '')
    writeFileSync(join(distDir, 'next-on-fastify/processes/0'), '')
    const { others, remove } = recordProcess(distDir)
    expect(others).toEqual([child.pid])
    expect([existsSync(recordOf(ended.pid!)), existsSync(recordOf(child.pid!))]).toEqual([false, true])
    remove()
  })

  it('have a record until their last server has closed', () => {
    const [one, two] = [recordProcess(distDir), recordProcess(distDir)]
    one.remove()
    expect(existsSync(recordOf(process.pid))).toBe(true)
    two.remove()
    expect(existsSync(recordOf(process.pid))).toBe(false)
  })

  it('have no record if the build cannot be written', () => {
    const file = join(distDir, 'file')
    writeFileSync(file, '')
    const { others, remove } = recordProcess(file)
    expect(others).toEqual([])
    remove()
  })
})

describe('a worker of a cluster', () => {
  it('is one of clustered-server, by its own primary only', () => {
    expect(isClusterWorker()).toBe(false)
    vi.stubEnv('CLUSTERED_SERVER_PRIMARY', String(process.pid))
    // A program that a worker starts inherits the variable.
    expect(isClusterWorker()).toBe(false)
    vi.stubEnv('CLUSTERED_SERVER_PRIMARY', String(process.ppid))
    expect(isClusterWorker()).toBe(true)
  })
})

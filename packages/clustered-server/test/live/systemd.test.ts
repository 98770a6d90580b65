import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { requireProgram } from '@test/required-program'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { appPath, Command } from '../helpers/command.ts'
import { eventually } from '../helpers/eventually.ts'

const hasPrograms = requireProgram('python3', 'python3') && requireProgram('systemd-notify', 'systemd')
const script = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}.py`, import.meta.url))
const args = (workers: number): string[] => ['--workers', String(workers), '--port', '0', '--host', '127.0.0.1']

let command: Command | undefined
afterEach(async () => {
  await command?.end()
  command = undefined
})

describe.runIf(hasPrograms)('notifications of systemd', () => {
  let folder: string
  let receiver: ChildProcess
  let said = ''
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'clustered-server-'))
    said = ''
    receiver = spawn('python3', [script('datagrams'), join(folder, 'notify')], { stdio: ['ignore', 'pipe', 'inherit'] })
    receiver.stdout!.setEncoding('utf8').on('data', (text: string) => (said += text))
    await eventually(() => said.includes('bound\n') || undefined)
  })
  afterEach(() => {
    receiver.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })

  /** Words in order, without those of the watchdog and what systemd-notify adds. */
  const words = (): string[] => said.split('\n').filter((line) => line && !/^(bound|BARRIER=1|WATCHDOG=1)/.test(line))
  const heard = (word: string): Promise<string> => eventually(() => words().find((line) => line.startsWith(word)))
  const env = (): NodeJS.ProcessEnv => ({ NOTIFY_SOCKET: join(folder, 'notify') })

  it('report the start, a reload and the shutdown', async () => {
    command = new Command([appPath('hello'), ...args(2)], env())
    await heard('READY=1')
    command.kill('SIGHUP')
    await heard('READY=1 STATUS=2 workers of generation 2')
    command.kill('SIGTERM')
    expect(await command.exit).toBe(0)
    await heard('STOPPING=1')
    expect(words()).toEqual([
      'READY=1 STATUS=2 workers of generation 1',
      expect.stringMatching(/^RELOADING=1 MONOTONIC_USEC=\d+ STATUS=Reloading$/),
      'READY=1 STATUS=2 workers of generation 2',
      'STOPPING=1 STATUS=Shutting down',
    ])
    expect(said).not.toContain('WATCHDOG')
  })

  it('feed the watchdog, also with one process', async () => {
    command = new Command([appPath('hello'), ...args(1)], { ...env(), WATCHDOG_USEC: '400000' })
    await heard('READY=1 STATUS=One process')
    await eventually(() => said.split('\n').filter((line) => line === 'WATCHDOG=1').length >= 3 || undefined)
  })

  it('skip a watchdog of another process', async () => {
    command = new Command([appPath('hello'), ...args(1)], { ...env(), WATCHDOG_USEC: '20000', WATCHDOG_PID: '1' })
    await heard('READY=1')
    command.kill('SIGTERM')
    await command.exit
    await heard('STOPPING=1')
    expect(said).not.toContain('WATCHDOG')
  })

  it('are off without systemd-notify, which is logged once', async () => {
    command = new Command([appPath('hello'), ...args(1)], { ...env(), PATH: folder })
    const line = await command.logged(({ level }) => level === 40)
    expect(line.msg).toBe('cannot notify systemd: spawn systemd-notify ENOENT')
    command.kill('SIGTERM')
    expect(await command.exit).toBe(0)
    expect(command.log.filter(({ level }) => level === 40)).toHaveLength(1)
    expect(words()).toEqual([])
  })
})

describe.runIf(hasPrograms)('a socket passed by systemd', () => {
  it.each([1, 2])('serves connections from before the start, with %i workers', async (workers) => {
    command = new Command([appPath('hello'), ...args(workers)], {}, ['python3', script('socket-unit')])
    const port = Number(await eventually(() => /^(\d+)\n/.exec(command!.stdout)?.[1]))
    // As soon as the port is known, and so before Node is there.
    const answer = await fetch(`http://127.0.0.1:${port}`)
    expect(await answer.text()).toMatch(/^\d+$/)
    expect((await command.listening()).port).toBe(port)
    // One process says that it cannot, and goes on.
    command.kill('SIGHUP')
    await command.logged(({ msg }) => /^reloaded|SIGHUP failed/.test(msg))
    expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200)
    command.kill('SIGTERM')
    expect(await command.exit).toBe(0)
  })

  it('is ignored if it is for another process', async () => {
    command = new Command([appPath('hello'), ...args(2)], { LISTEN_PID: '1', LISTEN_FDS: '1' })
    expect((await command.listening()).port).toBeGreaterThan(0)
  })

  it('fails the start if it is not a TCP socket', async () => {
    command = new Command([appPath('hello'), ...args(2)], {}, [
      'sh',
      '-c',
      'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@" 3< /dev/null',
      'sh',
    ])
    expect(await command.exit).toBe(1)
    expect(command.stderr).toMatch(/^clustered-server: Cannot listen on .*\n$/)
  })
})

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { appPath, Command } from '../helpers/command.ts'
import { childrenOf, identityOf } from '../helpers/running-server.ts'

const two = ['--workers', '2', '--port', '0', '--host', '127.0.0.1', '--admin-port', '0']

function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Command {
  const command = new Command(args, env)
  onTestFinished(() => command.end())
  return command
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'clustered-server-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const isReloaded = ({ msg }: { msg: string }): boolean => msg.startsWith('reloaded: generation 2 is active')

describe('clustered-server reload', () => {
  it('does not signal a process other than a primary', async () => {
    const other = spawn('sleep', ['600'])
    onTestFinished(() => void other.kill())
    const before = identityOf(other.pid!)
    const command = run(['reload', String(other.pid)])
    expect(await command.exit).toBe(3)
    expect(command.stderr).toBe(`clustered-server: process ${other.pid} is not a clustered-server with workers\n`)
    expect(identityOf(other.pid!)).toBe(before)
  })

  it('fails for a server of one process, which has no workers', async () => {
    const server = run([appPath('hello'), ...two, '--workers', '1'])
    await server.listening()
    const command = run(['reload', String(server.child.pid)])
    expect(await command.exit).toBe(1)
    expect(command.stderr).toContain('A server with one process cannot be reloaded: set "workers" to 2 or more\n')
  })

  it('finds the primary of a worker', async () => {
    const server = run([appPath('hello'), ...two])
    await server.listening()
    const active = server.log.find(({ msg }) => msg === 'worker 1 accepts connections') as { workerPid?: number }
    expect(childrenOf(server.child.pid!)).toContain(active.workerPid)
    const command = run(['reload', String(active.workerPid)])
    expect([await command.exit, command.stdout]).toEqual([0, `hello (${server.child.pid}) runs generation 2\n`])
    expect(server.log.some((line) => isReloaded(line))).toBe(true)
  })

  it('reports a port that is not an admin port', async () => {
    const server = run([appPath('hello'), ...two])
    const { port } = await server.listening()
    const command = run(['reload', String(server.child.pid), '--admin-port', String(port)])
    expect(await command.exit).toBe(1)
    const url = `http://127.0.0.1:${port}/status`
    const why = 'status 200 of a server that is not an admin server: see --admin-port'
    expect(command.stderr).toBe(`clustered-server: no clustered-server responds at ${url}: ${why}\n`)
  })
})

it.each([
  ['', /^none$/],
  ['clustered-server', /caused by: Error: the new version is broken\n {4}at .*may-fail\.ts/],
])('logs a failed reload once, with stacks only for NODE_DEBUG: %j', async (debug, stack) => {
  const failIf = join(newFolder(), 'broken')
  const server = run([appPath('may-fail'), ...two], { FAIL_IF: failIf, NODE_DEBUG: debug })
  await server.listening()
  writeFileSync(failIf, '')
  server.kill('SIGHUP')
  const text = 'The new version did not start, the old one keeps running: '
  const failed = (await server.logged(({ msg }) => msg.startsWith(text))) as { msg: string; err?: { stack?: string } }
  expect(failed.msg).toMatch(/Error: the new version is broken \(file:.*\/may-fail\.ts:\d+:\d+\)$/)
  expect(failed.err?.stack ?? 'none').toMatch(stack)
  server.kill('SIGTERM')
  expect(await server.exit).toBe(0)
  expect(server.log.filter(({ msg }) => msg.includes('did not start, the old'))).toHaveLength(1)
})

it('merges SIGHUPs into one running and one waiting reload', async () => {
  const server = run([appPath('hello'), ...two])
  await server.listening()
  server.kill('SIGHUP')
  await server.logged(({ msg }) => msg === 'reload: starting generation 2')
  for (let signal = 1; signal < 20; signal++) {
    server.kill('SIGHUP')
    await new Promise((resolve) => setImmediate(resolve))
  }
  await server.logged(({ msg }) => msg.startsWith('reloaded: generation 3 is active'))
  server.kill('SIGTERM')
  expect(await server.exit).toBe(0)
  expect(server.log.filter(({ msg }) => msg.startsWith('reload: '))).toHaveLength(2)
})

it.each(['1', '2'])('ignores SIGUSR2, and logs the signal to send instead, with %s workers', async (workers) => {
  const server = run([appPath('hello'), ...two, '--workers', workers])
  const { port } = await server.listening()
  server.kill('SIGUSR2')
  const line = await server.logged(({ msg }) => msg.startsWith('SIGUSR2'))
  expect(line).toMatchObject({ level: 40, msg: 'SIGUSR2 is ignored: send SIGHUP to reload' })
  const ready = server.log.filter(({ msg }) => msg.endsWith('accepts connections')) as { workerPid?: number }[]
  for (const { workerPid } of ready) process.kill(workerPid!, 'SIGUSR2')
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200)
  server.kill('SIGTERM')
  expect(await server.exit).toBe(0)
  expect(server.log.filter(({ msg }) => msg.includes('SIGUSR2'))).toHaveLength(1)
})

it.each(['1', '2'])(
  'exits with 1 after a failed start although the app has open handles, with %s workers',
  async (workers) => {
    const command = run([appPath('fails-with-handles'), ...two, '--workers', workers])
    expect(await command.exit).toBe(1)
    expect(command.stderr).toContain('the database is not there')
  },
)

it('reports why a file cannot be read', async () => {
  const loop = join(newFolder(), 'loop.ts')
  symlinkSync(loop, loop)
  const command = run([loop])
  expect(await command.exit).toBe(2)
  expect(command.stderr).toBe(`clustered-server: cannot read ${loop}: ELOOP\n`)
})

// Commands that find a running service, and control it through its socket.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { requireProgram } from '@test/required-program'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { type Command, RUNTIME_DIRECTORY } from '../helpers/command.ts'
import { Project } from '../helpers/project.ts'
import { childrenOf, isAlive } from '../helpers/running-server.ts'

const two = ['--workers', '2', '--port', '0', '--host', '127.0.0.1', '--no-standby']

const project = (): Project => new Project()

async function started(inProject: Project, ...flags: string[]): Promise<Command> {
  const server = inProject.run(['start', 'app.ts', ...two, ...flags])
  await server.listening()
  return server
}

/** What a command prints, and its exit code. */
async function result(inProject: Project, ...args: string[]): Promise<[number | null, string]> {
  const command = inProject.run(args)
  const code = await command.exit
  return [code, command.stdout + command.stderr]
}

interface Status {
  pid: number
  name: string
  size: number
  generation: number
  workers: { pid: number; state: string }[]
}
async function statusOf(inProject: Project, service: string): Promise<Status> {
  const [, text] = await result(inProject, 'status', service, '--json')
  return JSON.parse(text) as Status
}

describe('a service', () => {
  it('refuses unknown requests on its socket, and serves on', async () => {
    const inProject = project()
    const server = await started(inProject, '--name', 'shop')
    const socketPath = join(RUNTIME_DIRECTORY, `${server.child.pid}.sock`)
    for (const path of ['//', '/unknown', '/status?', '*']) {
      const sent = request({ socketPath, path, method: 'POST' }).end()
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      response.resume()
      expect([path, response.statusCode]).toEqual([path, 400])
    }
    expect((await statusOf(inProject, 'shop')).pid).toBe(server.child.pid)
  })

  it('is found by its name, pid, worker, pid file and admin port, and no longer after stop', async () => {
    const inProject = project()
    const server = await started(inProject, '--name', 'shop', '--pid-file', 'shop.pid', '--admin-port', '0')
    const { pid } = server.child
    const { admin } = await server.listening()
    const [worker] = childrenOf(pid!)
    for (const selector of ['shop', String(pid), String(worker), 'shop.pid', String(admin!.port)]) {
      expect(await statusOf(inProject, selector)).toMatchObject({ pid, name: 'shop', size: 2 })
    }
    expect(await result(inProject, 'reload', 'shop.pid')).toEqual([0, `shop (${pid}) runs generation 2\n`])
    expect(await result(inProject, 'stop', 'shop')).toEqual([0, `shop (${pid}) has ended\n`])
    expect(await server.exit).toBe(0)
    expect([existsSync(inProject.path('shop.pid')), existsSync(join(RUNTIME_DIRECTORY, `${pid}.sock`))]).toEqual([
      false,
      false,
    ])
    const none = 'clustered-server: no service is named "shop": no service runs\n'
    expect(await result(inProject, 'status', 'shop')).toEqual([3, none])
    expect(await result(inProject, 'stop')).toEqual([
      3,
      'clustered-server: no service runs: start one by clustered-server start <app>\n',
    ])
  })

  it('has a socket that only its user can open, and is named after its file', async () => {
    const inProject = project()
    const server = await started(inProject)
    const socket = join(RUNTIME_DIRECTORY, `${server.child.pid}.sock`)
    expect([statSync(RUNTIME_DIRECTORY).mode & 0o777, statSync(socket).mode & 0o777]).toEqual([0o700, 0o600])
    expect(await statusOf(inProject, 'app')).toMatchObject({ pid: server.child.pid })
    const [code, text] = await result(inProject, 'status')
    expect(code).toBe(0)
    expect(text).toContain(`app (${server.child.pid}): ready, generation 1, 0 reloads, 0 failed\nworker `)
  })

  it('keeps the number of scale over a reload, and refuses less than 1 and more than 1024', async () => {
    const inProject = project()
    const { pid } = (await started(inProject)).child
    const both = await Promise.all([result(inProject, 'scale', '+1'), result(inProject, 'scale', 'app', '+1')])
    expect(both.map(([code]) => code)).toEqual([0, 0])
    expect(await statusOf(inProject, 'app')).toMatchObject({ size: 4 })
    expect(await result(inProject, 'scale', 'app', '-1')).toEqual([0, `app (${pid}) runs 3 workers\n`])
    expect(await result(inProject, 'reload')).toEqual([0, `app (${pid}) runs generation 2\n`])
    const { size, workers } = await statusOf(inProject, 'app')
    expect([size, workers.filter(({ state }) => state === 'active')]).toMatchObject([3, [{}, {}, {}]])
    for (const [count, target] of [
      ['0', 0],
      ['1025', 1025],
    ] as const) {
      const text = `clustered-server: cannot scale from 3 workers to ${target}: expected 1 to 1024\n`
      expect(await result(inProject, 'scale', count)).toEqual([1, text])
    }
    expect(await statusOf(inProject, 'app')).toMatchObject({ size: 3 })
  })

  it('of one process says that it cannot be reloaded or scaled, and stops', async () => {
    const inProject = project()
    const { pid } = (await started(inProject, '--workers', '1')).child
    const reload = 'clustered-server: A server with one process cannot be reloaded: set "workers" to 2 or more\n'
    expect(await result(inProject, 'reload', String(pid))).toEqual([1, reload])
    expect((await result(inProject, 'scale', '2'))[0]).toBe(1)
    expect(await result(inProject, 'stop')).toEqual([0, `app (${pid}) has ended\n`])
  })

  it('must be named where several run', async () => {
    const inProject = project()
    const servers = await Promise.all([started(inProject, '--name', 'a'), started(inProject, '--name', 'b')])
    const listed = servers
      .map(({ child }, index) => ({ pid: child.pid!, text: `${'ab'[index]} (${child.pid})` }))
      .toSorted((a, b) => a.pid - b.pid)
      .map(({ text }) => text)
      .join(', ')
    for (const command of [['reload'], ['scale', '2'], ['stop']]) {
      const text = `clustered-server: 2 services match, choose one: ${listed}\n`
      expect(await result(inProject, ...command)).toEqual([2, text])
    }
    const [code, text] = await result(inProject, 'status')
    expect([code, text.split('\n').length]).toEqual([0, 4])
    expect(await result(inProject, 'stop', 'c')).toEqual([
      3,
      `clustered-server: no service is named "c": running: ${listed}\n`,
    ])
  })

  it('finishes a request in flight although stop is called twice, and stop fails when its time is over', async () => {
    const inProject = project()
    inProject.write('slow.mjs', SLOW)
    const server = inProject.run(['start', 'slow.mjs', ...two])
    const { port } = await server.listening()
    const response = fetch(`http://127.0.0.1:${port}`)
    await eventually(() => server.stdout.includes('received') || undefined)
    const late = `slow (${server.child.pid}) has not ended after 10 ms: `
    // A second stop signal would kill the worker.
    for (let time = 1; time <= 2; time++) {
      const stop = await result(inProject, 'stop', '--timeout', '10ms')
      expect(stop).toEqual([1, expect.stringContaining(late)])
    }
    writeFileSync(inProject.path('respond'), '')
    expect(await (await response).text()).toBe('finished')
    expect(await server.exit).toBe(0)
  })

  it('that was killed is not found, and its socket is removed', async () => {
    const inProject = project()
    const server = await started(inProject, '--pid-file', 'a.pid')
    const { pid } = server.child
    await server.end()
    const text = `the pid file a.pid is stale: there is no process ${pid}`
    expect(await result(inProject, 'stop', 'a.pid')).toEqual([3, `clustered-server: ${text}\n`])
    expect(readdirSync(RUNTIME_DIRECTORY)).not.toContain(`${pid}.sock`)
    // The next start takes the file.
    const next = await started(inProject, '--pid-file', 'a.pid')
    expect(readFileSync(inProject.path('a.pid'), 'utf8')).toBe(`${next.child.pid}\n`)
  })
})

const SLOW = `
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
export default () => createServer(async (request, response) => {
  console.log('received')
  while (!existsSync('respond')) await sleep(20)
  response.end('finished')
})
`

describe('a pid file', () => {
  it('of a running service is refused by a second start, which changes nothing', async () => {
    const inProject = project()
    const { pid } = (await started(inProject, '--pid-file', 'a.pid')).child
    const [code, text] = await result(inProject, 'start', 'app.ts', ...two, '--pid-file', 'a.pid')
    const why = `process ${pid} runs with it: stop that first, or use another file`
    expect([code, text]).toEqual([1, `clustered-server: Cannot use pid file ${inProject.path('a.pid')}: ${why}\n`])
    expect(readFileSync(inProject.path('a.pid'), 'utf8')).toBe(`${pid}\n`)
  })

  it.each([
    ['a symbolic link', (path: string) => symlinkSync('app.ts', path), 'it is not a regular file'],
    ['a directory', (path: string) => mkdirSync(path), 'it is not a regular file'],
    ['another file', (path: string) => writeFileSync(path, '{"name":"shop"}'), 'it contains something else'],
  ])('is refused before the start if it is %s', async (_what, create, why) => {
    const inProject = project()
    create(inProject.path('a.pid'))
    const [code, text] = await result(inProject, 'start', 'app.ts', ...two, '--pid-file', 'a.pid')
    expect([code, text.split('\n').length]).toEqual([1, 2])
    expect(text).toContain(`Cannot use pid file ${inProject.path('a.pid')}: ${why}`)
  })

  it('that others may write chooses no process', async () => {
    const inProject = project()
    const server = await started(inProject)
    writeFileSync(inProject.path('a.pid'), String(server.child.pid))
    chmodSync(inProject.path('a.pid'), 0o666)
    const [code, text] = await result(inProject, 'stop', 'a.pid')
    expect([code, text]).toEqual([2, expect.stringContaining('other users may write the pid file a.pid')])
    expect(isAlive(server.child.pid!)).toBe(true)
  })
})

it('stop signals no process other than a primary', async () => {
  const other: ChildProcess = spawn('sleep', ['600'])
  onTestFinished(() => void other.kill('SIGKILL'))
  await once(other, 'spawn')
  const why = `process ${other.pid} is not a clustered-server with workers`
  expect(await result(project(), 'stop', String(other.pid))).toEqual([3, `clustered-server: ${why}\n`])
  expect(isAlive(other.pid!)).toBe(true)
})

it.each([
  ['is open to other users', 0o755],
  ['is not a directory', undefined],
])('a directory of sockets that %s is not used, and the service starts nevertheless', async (why, mode) => {
  const inProject = project()
  const directory = inProject.path('run')
  if (mode === undefined) symlinkSync(RUNTIME_DIRECTORY, directory)
  else mkdirSync(directory, { mode })
  const env = { CLUSTERED_SERVER_RUNTIME_DIR: directory }
  const server = inProject.run(['start', 'app.ts', ...two], env)
  await server.listening()
  const warning = server.log.find(({ level }) => level === 40)
  expect(warning?.msg).toContain(`commands do not find this service by its name: ${directory} ${why}`)
  const command = inProject.run(['stop', 'app'], env)
  expect(await command.exit).toBe(1)
  expect(command.stderr).toContain(`${directory} ${why}`)
  // Signals need no directory.
  const byPid = inProject.run(['stop', String(server.child.pid)], env)
  expect(await byPid.exit).toBe(0)
  expect(await server.exit).toBe(0)
  const ended = inProject.run(['stop', String(server.child.pid)], env)
  expect(await ended.exit).toBe(1)
  expect(ended.stderr).toContain(`${directory} ${why}`)
})

describe('status --watch without a terminal', () => {
  it('prints a line for each change, and ends with the service', async () => {
    const inProject = project()
    const server = await started(inProject)
    const { pid } = server.child
    const watch = inProject.run(['status', '--watch'])
    const lines = (): string[] => watch.stdout.trimEnd().split('\n')
    await eventually(() => lines().some((line) => / ready, generation 1, 2 of 2 workers: /.test(line)) || undefined)
    await result(inProject, 'reload')
    await eventually(() => lines().some((line) => / ready, generation 2, 2 of 2 workers: /.test(line)) || undefined)
    server.kill('SIGTERM')
    expect(await watch.exit).toBe(3)
    expect(watch.stderr).toBe(`clustered-server: app (${pid}) has ended or does not respond\n`)
    expect(watch.stdout).not.toContain('\u001B')
    expect(new Set(lines()).size).toBe(lines().length)
  })
})

describe.runIf(requireProgram('python3', 'python3'))('status --watch on a terminal', () => {
  it.each([
    ['with colors', {}, true],
    ['without colors for NO_COLOR', { NO_COLOR: '1' }, false],
  ])('fits 80 columns, and restores the cursor on Ctrl-C, %s', async (_how, env, hasColors) => {
    const inProject = project()
    await started(inProject, '--name', 'a'.repeat(64))
    const terminal = fileURLToPath(new URL('../fixtures/terminal.py', import.meta.url))
    // Node takes a terminal of most CI services for one without colors.
    const colors = { CI: undefined, FORCE_COLOR: undefined, NO_COLOR: undefined, TERM: 'xterm' }
    // It moves up to write the table again.
    const watch = inProject.run(['status', '--watch'], { ...colors, ...env }, [...['python3', terminal, '\u001B[4A']])
    expect(await watch.exit).toBe(0)
    expect(watch.stdout.startsWith('\u001B[?25l')).toBe(true)
    expect(watch.stdout.endsWith('\u001B[?25h')).toBe(true)
    expect(watch.stdout.includes('\u001B[32mactive')).toBe(hasColors)
    const lines = stripVTControlCharacters(watch.stdout).split('\r\n')
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(lines.filter((line) => line.startsWith('worker')).length).toBeGreaterThan(1)
  })
})

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { appPath, Command, RUNTIME_DIRECTORY } from '../helpers/command.ts'
import { eventually } from '../helpers/eventually.ts'

const two = ['--workers', '2', '--port', '0', '--host', '127.0.0.1', '--admin-port', '0']

const commands: Command[] = []
function run(...args: string[]): Command {
  const command = new Command(args)
  commands.push(command)
  return command
}
afterEach(() => Promise.all(commands.splice(0).map((command) => command.end())))

interface Status {
  workers: { pid: number; state: string; generation: number }[]
}
async function activeWorkers(adminPort: number): Promise<Status['workers']> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/status`)
  return ((await response.json()) as Status).workers.filter(({ state }) => state === 'active')
}

describe('a server', () => {
  it('serves requests, and exits with 0 and no process left on SIGTERM', async () => {
    const command = run(appPath('hello'), ...two)
    const { port, admin } = await command.listening()
    const pids = (await activeWorkers(admin!.port)).map(({ pid }) => pid)
    const answer = await (await fetch(`http://127.0.0.1:${port}`)).text()
    expect(pids.map(String)).toContain(answer)
    command.kill('SIGTERM')
    expect(await command.exit).toBe(0)
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    expect(command.stdout).toBe('')
  })

  it('logs JSON lines of pino with the id of the worker', async () => {
    const command = run(appPath('hello'), ...two)
    await command.listening()
    const line = await command.logged(({ msg }) => msg === 'worker 2 accepts connections')
    const { pid } = command.child
    expect(line).toMatchObject({ level: 30, time: expect.any(Number), pid, hostname: expect.any(String), worker: 2 })
    expect(command.stderr.trimEnd().split('\n')).toHaveLength(command.log.length)
  })

  it('reloads on SIGHUP, adds a worker on SIGTTIN and removes one on SIGTTOU', async () => {
    const command = run(appPath('hello'), ...two)
    const { admin } = await command.listening()
    const before = await activeWorkers(admin!.port)
    command.kill('SIGHUP')
    await command.logged(({ msg }) => msg.startsWith('reloaded: generation 2 is active'))
    const after = await activeWorkers(admin!.port)
    expect(after.map(({ generation }) => generation)).toEqual([2, 2])
    expect(after.filter(({ pid }) => before.some((old) => old.pid === pid))).toEqual([])
    const count = async (wanted: number): Promise<true | undefined> =>
      (await activeWorkers(admin!.port)).length === wanted || undefined
    command.kill('SIGTTIN')
    await eventually(() => count(3))
    command.kill('SIGTTOU')
    await eventually(() => count(2))
  })

  it('exits with 1 immediately on a second stop signal', async () => {
    const command = run(appPath('slow'), ...two)
    const { port } = await command.listening()
    const request = get({ port, host: '127.0.0.1', path: '/60000' })
    const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream]
    const cut = once(response, 'error')
    command.kill('SIGINT')
    await command.logged(({ msg }) => msg === 'closing')
    command.kill('SIGTERM')
    expect(await command.exit).toBe(1)
    expect(await cut).toMatchObject([{ code: 'ECONNRESET' }])
  })

  it('exits with 0 on SIGTERM during its start', async () => {
    const command = run(appPath('never-ready'), ...two)
    await command.logged(({ msg }) => msg === 'worker 2 started')
    command.kill('SIGTERM')
    expect(await command.exit).toBe(0)
  })

  it('exits with 1 after a crash loop', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'clustered-server-'))
    const dieIf = join(folder, 'die')
    const command = new Command([appPath('short-lived'), ...two], { DIE_IF: dieIf })
    commands.push(command)
    try {
      await command.listening()
      writeFileSync(dieIf, '')
      // Later and later each time.
      expect(await command.exit).toBe(1)
      const loop = command.log.find(({ msg }) => /^\d+ workers in a row died early/.test(msg))
      expect(loop?.level).toBe(50)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('logs that one process cannot be reloaded', async () => {
    const command = run(appPath('hello'), ...two, '--workers', '1')
    const { port } = await command.listening()
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe(String(command.child.pid))
    command.kill('SIGHUP')
    const line = await command.logged(({ level }) => level === 50)
    expect(line.msg).toBe('SIGHUP failed: A server with one process cannot be reloaded: set "workers" to 2 or more')
    command.kill('SIGTERM')
    expect(await command.exit).toBe(0)
  })
})

describe('reload and status', () => {
  it('reload waits for its end, and fails with the error of the new version', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'clustered-server-'))
    const failIf = join(folder, 'broken')
    const command = new Command([appPath('may-fail'), ...two], { FAIL_IF: failIf })
    commands.push(command)
    try {
      const { admin } = await command.listening()
      const reload = [String(command.child.pid), '--admin-port', String(admin!.port)]
      const good = run('reload', ...reload)
      expect([await good.exit, good.stdout]).toEqual([0, `may-fail (${command.child.pid}) runs generation 2\n`])
      const before = await activeWorkers(admin!.port)
      writeFileSync(failIf, '')
      const bad = run('reload', ...reload)
      expect([await bad.exit, bad.stdout]).toEqual([1, ''])
      expect(bad.stderr).toContain('clustered-server: The new version did not start, the old one keeps running')
      expect(bad.stderr).toContain('the new version is broken')
      expect(await activeWorkers(admin!.port)).toHaveLength(2)
      expect((await activeWorkers(admin!.port)).map(({ pid }) => pid)).toEqual(before.map(({ pid }) => pid))
      expect(command.log.some(({ level, msg }) => level === 50 && msg.includes('the new version is broken'))).toBe(true)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('reload sends a signal to a server without a control socket, and does not wait', async () => {
    const command = run(appPath('hello'), ...two)
    await command.listening()
    rmSync(join(RUNTIME_DIRECTORY, `${command.child.pid}.sock`))
    const reload = run('reload', String(command.child.pid))
    expect([await reload.exit, reload.stdout]).toEqual([
      0,
      `${command.child.pid} was sent SIGHUP: see its log for the reload\n`,
    ])
    await command.logged(({ msg }) => msg.startsWith('reloaded: generation 2 is active'))
  })

  it('status shows the workers', async () => {
    const command = run(appPath('hello'), ...two)
    const { admin } = await command.listening()
    const [worker] = await activeWorkers(admin!.port)
    const table = run('status', '--admin-port', String(admin!.port))
    expect(await table.exit).toBe(0)
    expect(table.stdout).toMatch(/^hello \(\d+\): ready, generation 1, 0 reloads, 0 failed\nworker +pid +state /)
    expect(table.stdout).toMatch(new RegExp(`^ +1 +${worker!.pid} +active `, 'm'))
    const json = run('status', '--admin-port', String(admin!.port), '--json')
    expect(await json.exit).toBe(0)
    expect(JSON.parse(json.stdout)).toMatchObject({ pid: command.child.pid, ready: true, generation: 1 })
  })
})

describe('a mistake is reported in one line', () => {
  it.each([
    [2, ['missing.ts'], 'there is no file '],
    [2, ['strat', appPath('hello')], 'there is neither a command nor a file strat: see --help'],
    [2, ['reloda'], 'there is neither a command nor a file reloda: see --help'],
    [2, [appPath('hello'), '--recycle-rss', '0'], 'Invalid option "--recycle-rss": expected bytes, an integer of at'],
    [2, [], 'expected an app or a configuration file: see --help'],
    [2, [appPath('hello'), appPath('slow')], 'expected one app, got 2: see --help'],
    [2, [appPath('hello'), '--wrokers', '2'], "Unknown option '--wrokers'"],
    [
      2,
      [appPath('hello'), '--workers', 'all'],
      'Invalid option "--workers": expected an integer from 1 to 1024 or "auto", got "all".',
    ],
    [
      2,
      [appPath('hello'), '--drain-timeout', '1x'],
      'Invalid option "--drain-timeout": expected a time such as 500ms, 30s or 1.5h, got "1x".',
    ],
    [
      2,
      [appPath('hello'), '--admin-port', 'x'],
      'Invalid option "--admin-port": expected an integer from 0 to 65535, got "x".',
    ],
    [2, [appPath('hello'), '--agent-port', '1'], '--admin-host and --agent-port need --admin-port'],
    [
      2,
      [appPath('hello'), '--recycle-rss', '1TiB'],
      'Invalid option "--recycle-rss": expected a size such as 64k, 300M or 1.5G, got "1TiB".',
    ],
    [
      2,
      [appPath('hello'), '--ready-path', 'ready'],
      'Invalid option "--ready-path": expected a path that begins with a slash',
    ],
    [2, [appPath('hello'), '--no-spare'], "'--no-spare': it was renamed to --no-standby"],
    [2, [appPath('hello'), '--stuck-report', 'stack'], "'--stuck-report': it was renamed to --blocked-loop-report"],
    [2, [appPath('hello'), '-i', 'max'], "'-i': use --workers <count|auto>"],
    [2, [appPath('hello'), '--name'], '--name needs a value: see clustered-server --help'],
    [2, [appPath('hello'), '--name', '--standby'], '--name needs a value: see clustered-server --help'],
    [2, [appPath('hello'), '--standby=yes'], '--standby takes no value, got "yes": see clustered-server --help'],
    [2, [appPath('hello'), '--name', '12'], 'Invalid option "--name": expected a name of 1 to 64 printable characters'],
    [2, [appPath('hello'), '--name', 'a\u001B[31m'], 'Invalid option "--name": expected a name'],
    [3, ['status'], 'no service runs: start one by clustered-server start <app>'],
    [2, ['status', '--port', '1'], '--port was renamed to --admin-port'],
    [2, ['status', '--color'], "Unknown option '--color': see clustered-server status --help"],
    [2, ['status', 'a', 'b'], 'expected 1 argument at most, got 2: see clustered-server status --help'],
    [2, ['reload', '1', '--host', '::1'], '--host was renamed to --admin-host'],
    [3, ['reload', 'all'], 'no service is named "all": no service runs'],
    [3, ['reload', '2147483646'], 'there is no process 2147483646'],
    [2, ['scale'], 'expected a number of workers as in 4, +1 or -1, got none: see clustered-server scale --help'],
    [2, ['scale', 'shop', 'many'], 'expected a number of workers as in 4, +1 or -1, got many'],
    [2, ['stop', '--timeout', 'soon'], 'expected --timeout to be a time such as 30s, got "soon"'],
  ])('%i: %j', async (code, args, message) => {
    const command = run(...args)
    expect(await command.exit).toBe(code)
    expect(command.stderr).toMatch(/^clustered-server: .*\n$/)
    expect(command.stderr).toContain(message)
  })

  it.each([
    ['PORT', 'http'],
    ['PORT', '70000'],
  ])('names the environment variable %s=%s', async (name, value) => {
    const command = new Command([appPath('hello')], { [name]: value })
    commands.push(command)
    expect(await command.exit).toBe(2)
    expect(command.stderr).toBe(
      `clustered-server: Invalid environment variable PORT: expected a port or the path of a UNIX socket, got "${value}"\n`,
    )
  })

  it('status of a port without a server', async () => {
    const command = run('status', '--admin-port', '1025')
    expect(await command.exit).toBe(1)
    expect(command.stderr).toMatch(
      /^clustered-server: no clustered-server responds at http:\/\/127.0.0.1:1025\/status: .*\n$/,
    )
  })
})

describe('exits with 1 when the app does not start', () => {
  const startOf = (env: NodeJS.ProcessEnv): Command => {
    const command = new Command([appPath('may-fail'), ...two], { FAIL_IF: import.meta.filename, ...env })
    commands.push(command)
    return command
  }

  it('prints the reason and its place in one line', async () => {
    const command = startOf({ NODE_DEBUG: '' })
    expect(await command.exit).toBe(1)
    const lines = command.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
    expect(lines).toEqual([
      expect.stringMatching(
        /^clustered-server: Worker \d did not start: Error: the new version is broken \(file:\/\/.*may-fail\.ts:\d+:\d+\)$/,
      ),
    ])
  })

  it('prints the stack of the app for NODE_DEBUG=clustered-server', async () => {
    const command = startOf({ NODE_DEBUG: 'clustered-server' })
    expect(await command.exit).toBe(1)
    expect(command.stderr).toMatch(/caused by: Error: the new version is broken\n {4}at .*may-fail\.ts/)
  })
})

it('prints the exit codes by --help and the version by --version', async () => {
  const [help, version] = [run('--help'), run('--version')]
  expect([await help.exit, await version.exit]).toEqual([0, 0])
  expect(help.stdout.replaceAll(/\s+/g, ' ')).toContain(
    'Exit code: 0 after a shutdown; 1 after a failed start, the death of all workers or a second stop signal; 2 for wrong usage.',
  )
  const { version: here } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect(version.stdout).toBe(`${here}\n`)
})

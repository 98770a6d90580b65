import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Command } from '../helpers/command.ts'
import { crash, Deployment, reload, served } from '../helpers/deployment.ts'
import { eventually } from '../helpers/eventually.ts'
import { childrenOf, commandOf } from '../helpers/running-server.ts'

/** The ways to start a server of the release that the link leads to. */
const STARTS: readonly (readonly [name: string, start: (one: Deployment, extension: string) => Command])[] = [
  ['a script by a path through the link', (one, type) => one.script(one.linked(`server.${type}`), one.folder)],
  ['a script inside the link', (one, type) => one.script(`server.${type}`, one.linked(), { PWD: one.linked() })],
  [
    'a script with the option app as an absolute path through the link',
    (one, type) => one.script(one.in(1, `server.${type}`), '/', { APP: one.linked(`app.${type}`) }),
  ],
  ['the command by a path through the link', (one, type) => one.command([`${one.linked()}/app.${type}`], one.folder)],
  ['the command by a relative path', (one, type) => one.command([`current/app.${type}`], one.folder)],
  ['the command inside the link', (one, type) => one.command([`app.${type}`], one.linked(), { PWD: one.linked() })],
  ['the command inside the link, without PWD', (one, type) => one.command([`app.${type}`], one.linked())],
]

describe.each(['ts', 'js'] as const)(
  'a reload serves the release that the link leads to: app.%s, started as',
  (type) => {
    it.each(STARTS)('%s', async (_, start) => {
      const one = new Deployment(type)
      one.add(2)
      const command = start(one, type)
      const before = await served(command)
      expect(before.release).toBe(1)
      const revision = (release: number): string => String(release).repeat(40)
      const nameOf = (release: number): string =>
        `${one.in(release, `app.${type}`)}, version ${release}.0.0, revision ${revision(release)}`
      const first = command.log.find(({ msg }) => msg.startsWith('each reload '))
      expect(first?.msg).toBe(`each reload resolves ${one.linked(`app.${type}`)}, now ${nameOf(1)}`)
      one.link(2, type === 'ts')
      expect(await reload(command)).toMatchObject({
        msg: `reloaded: generation 2 is active, ${nameOf(2)}`,
        path: one.in(2, `app.${type}`),
        version: '2.0.0',
        revision: revision(2),
      })
      const after = await served(command)
      expect(after.release).toBe(2)
      // A working directory outside of the release stays.
      expect(after.cwd).toBe(before.cwd === one.in(1) ? one.in(2) : before.cwd)
    })
  },
)

it('follows a link of any name that the server was started by', async () => {
  const one = new Deployment('js', 'live')
  one.add(2)
  const command = one.command(['app.js'], one.linked(), { PWD: one.linked() })
  expect(await served(command)).toMatchObject({ release: 1, cwd: one.in(1) })
  one.link(2)
  await reload(command)
  expect(await served(command)).toMatchObject({ release: 2, cwd: one.in(2) })
})

it('names the path that each reload loads where no link leads to it', async () => {
  const one = new Deployment('js', 'live')
  const command = one.command(['app.js'], one.in(1))
  await command.logged(({ msg }) => msg.startsWith(`each reload loads ${one.in(1, 'app.js')}, version 1.0.0`))
})

describe.each([
  ['a script', (one: Deployment) => one.script('server.ts', one.linked(), { PWD: one.linked() })],
  ['the command', (one: Deployment) => one.command(['app.ts'], one.linked(), { PWD: one.linked() })],
] as const)('after the first release was deleted, %s', (_, start) => {
  it('reloads again and again', async () => {
    const one = new Deployment()
    const command = start(one)
    await served(command)
    for (const release of [2, 3]) {
      one.add(release)
      one.link(release)
      one.prune(release - 1)
      await reload(command, release)
      expect(await served(command)).toMatchObject({ release, cwd: one.in(release) })
    }
    const copy = copyOf(command)
    expect(statSync(copy).mode & 0o777).toBe(0o700)
    expect(readdirSync(copy)).toContain('worker')
    command.kill('SIGTERM')
    expect(await command.exit).toBe(0)
    expect(existsSync(copy)).toBe(false)
  })

  it('starts all workers again from the current release when they die', async () => {
    const one = new Deployment()
    const command = start(one)
    await served(command)
    one.add(2)
    one.link(2)
    one.prune(1)
    expect(await crash(command)).toMatchObject({ release: 2, cwd: one.in(2) })
    const text = `${one.in(1, 'app.ts')} was deleted: workers start from ${one.in(2, 'app.ts')}`
    expect(command.log.filter(({ msg }) => msg === text)).toMatchObject([{ level: 40 }])
    await reload(command)
    expect((await served(command)).release).toBe(2)
  })
})

it('starts a worker of the same release in place of a dead one, until a reload', async () => {
  const one = new Deployment()
  const command = one.command(['app.ts'], one.linked(), { PWD: one.linked() })
  await served(command)
  one.add(2)
  one.link(2)
  expect(await crash(command)).toMatchObject({ release: 1, cwd: one.in(1) })
})

it('keeps the workers of a deleted release when the new one is broken', async () => {
  const one = new Deployment()
  const command = one.command(['app.ts'], one.linked(), { PWD: one.linked() })
  const { pid } = await served(command)
  one.add(2, { 'app.ts': 'throw new Error("broken")' })
  one.link(2)
  one.prune(1)
  command.kill('SIGHUP')
  const failed = await command.logged(({ level, msg }) => level === 50 && msg.startsWith('The new version'))
  expect(failed.msg).toContain('Error: broken')
  expect(await served(command)).toMatchObject({ release: 1 })
  expect(childrenOf(command.child.pid!)).toContain(pid)
  // No worker can start in place of one that dies now. The other one keeps serving.
  process.kill(pid, 'SIGKILL')
  await command.logged(({ msg }) => /^worker \d+ ended unexpectedly with code 1: Error: broken/.test(msg))
  expect((await served(command)).release).toBe(1)
  one.add(3)
  one.link(3)
  await reload(command, 3)
  expect((await served(command)).release).toBe(3)
})

it('starts workers after the Node of the first release was deleted', async () => {
  const one = new Deployment()
  copyFileSync(process.execPath, one.in(1, 'node'))
  // In place of the Node of this test, which is the first argument.
  const other = ['sh', '-c', 'shift; exec "$0" "$@"', one.in(1, 'node')]
  const command = one.script(one.linked('server.ts'), one.folder, {}, other)
  await served(command)
  one.add(2)
  one.link(2)
  one.prune(1)
  await reload(command)
  expect((await served(command)).release).toBe(2)
})

it('fails a reload whose link leads nowhere, and keeps the old workers', async () => {
  const one = new Deployment()
  const command = one.command(['app.ts'], one.linked(), { PWD: one.linked() })
  await served(command)
  one.link(9)
  command.kill('SIGHUP')
  const failed = await command.logged(({ level }) => level === 50)
  expect(failed.msg).toContain(`there is no file ${one.linked('app.ts')}`)
  expect((await served(command)).release).toBe(1)
})

it('reads environment files, Node arguments and paths of the configuration file in the current release', async () => {
  const one = new Deployment()
  const config = JSON.stringify({ app: './app.ts', envFile: '.env', execArgv: ['--import', './setup.mjs'] })
  for (const release of [2, 3]) one.add(release)
  for (const release of [1, 2]) writeFileSync(one.in(release, 'clustered-server.config.json'), config)
  writeFileSync(one.in(2, 'more.env'), 'MORE=2\n')
  writeFileSync(one.in(1, 'more.env'), 'MORE=1\n')
  const command = one.command(['--env-file', 'more.env'], one.linked(), { PWD: one.linked() })
  const variables = (release: string, more = release): object => ({ OF_FILE: release, OF_IMPORT: release, MORE: more })
  expect((await served(command)).env).toMatchObject(variables('1'))
  one.link(2)
  one.prune(1)
  await reload(command)
  expect((await served(command)).env).toMatchObject(variables('2'))
})

it('starts workers with its own code after another version of this package was installed over it', async () => {
  const one = new Deployment()
  const command = one.command(['app.ts'], one.linked(), { PWD: one.linked() })
  await served(command)
  writeFileSync(one.in(1, 'lib/src/worker/entry.ts'), 'throw new Error("of another version")')
  await reload(command)
  expect((await served(command)).release).toBe(1)
  expect(command.log.filter(({ msg }) => msg.startsWith('clustered-server was deleted or replaced'))).toHaveLength(1)
})

it('runs a task on one worker where the app loads another copy of this package than the server', async () => {
  const one = new Deployment()
  const log = one.path('log')
  writeFileSync(log, '')
  const task = (release: number): Record<string, string> => ({
    'app.ts': `
      import { appendFileSync } from 'node:fs'
      import { once } from 'node:events'
      import { setTimeout as sleep } from 'node:timers/promises'
      import { runOnOneWorker } from './lib/src/index.ts'
      runOnOneWorker(async (signal) => {
        appendFileSync(${JSON.stringify(log)}, 'start ${release}\\n')
        if (!signal.aborted) await once(signal, 'abort')
        await sleep(300)
        appendFileSync(${JSON.stringify(log)}, 'end ${release}\\n')
      })
      export default (request: any, response: any) => response.end(JSON.stringify({ release: ${release} }))`,
  })
  const lines = (count: number): Promise<string[]> =>
    eventually(() => {
      const found = readLines(log)
      return found.length >= count ? found : undefined
    })
  for (const release of [2, 3]) one.add(release, task(release))
  one.link(2)
  const command = one.command([one.linked('app.ts')], one.folder)
  await lines(1)
  one.link(3)
  await reload(command)
  expect(await lines(3)).toEqual(['start 2', 'end 2', 'start 3'])
  command.kill('SIGTERM')
  expect(await command.exit).toBe(0)
  expect(readLines(log)).toEqual(['start 2', 'end 2', 'start 3', 'end 3'])
})

/** Folder of the copy that workers run. */
function copyOf(command: Command): string {
  const entries = childrenOf(command.child.pid!).map((pid) => commandOf(pid).split('\0')[1] ?? '')
  const copies = new Set(
    entries.filter((path) => path.endsWith('/worker/entry.ts')).map((path) => dirname(dirname(path))),
  )
  expect(copies.size).toBe(1)
  return [...copies][0]!
}

function readLines(path: string): string[] {
  return readFileSync(path, 'utf8').split('\n').filter(Boolean)
}

// What people get: the tarball, in an empty project, and what the README tells them to do with it.

import type { ChildProcess } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run, Tarball, tsconfig } from './tarball.ts'
import { isWellPacked } from './well-packed.ts'

const tarball = new Tarball('clustered-server')
const { project } = tarball

const pages = ['README.md', 'docs/apps.md'].map((page) => readFileSync(join(tarball.source, page), 'utf8')).join('\n')
/** The programs of the README and of docs/apps.md by name. */
const samples = Object.fromEntries(
  [...pages.matchAll(/```ts\n(\/\/ (\S+\.ts)\n[\s\S]*?)```/g)].map(([, text, name]) => [name!, text!]),
)
const server = samples['server.ts']!.replace('port: 3000', 'port: 0')

/** The sample of docs/config-file.md, on free ports. */
const config = /```ts\n([\s\S]*?)```/
  .exec(readFileSync(join(tarball.source, 'docs/config-file.md'), 'utf8'))![1]!
  .replace('port: 3000', "port: 0, host: '127.0.0.1'")
  .replace('port: 9090', 'port: 0')

/** That of warming, run by one worker beside a standby worker, and by this process alone. */
const warm = `
import { createClusteredServer } from 'clustered-server'

const url = new URL('./warm-app.ts', import.meta.url)
for (const workers of [1, 2]) {
  const server = await createClusteredServer(url, { workers, port: 0, host: '127.0.0.1', signals: false })
  const response = await fetch(\`http://127.0.0.1:\${server.port}\`)
  const { pid } = await response.json() as { pid: number }
  console.log(pid === process.pid)
  await server.close()
}
`

/** What `/metrics` responds with, for an app without dependencies, where nothing is installed but this package. */
const metrics = `
import { createClusteredServer } from 'clustered-server'

await import('prom-' + 'client').then(() => console.log('prom-client is there'), () => {})
const url = new URL('./handler.mjs', import.meta.url)
for (const workers of [1, 2]) {
  const options = { workers, port: 0, host: '127.0.0.1', signals: false, admin: { port: 0 } }
  const server = await createClusteredServer(url, options)
  const response = await fetch(\`http://127.0.0.1:\${server.admin?.port}/metrics\`)
  const text = await response.text()
  console.log(response.status, /^clustered_server_workers{state="active"} (\\d)$/m.exec(text)?.[1])
  await server.close()
}
`

const FILES = {
  ...samples,
  'package.json': '{ "private": true, "type": "module" }\n',
  'server.ts': server,
  'warm.ts': warm,
  'settings.ts': config,
  '.env': 'FROM_FILE=1\n',
  'handler.mjs': "export default (request, response) => response.end('hello')\n",
  'metrics.ts': metrics,
  'types.ts': `
import { createClusteredServer, ClusteredServerError, type ClusteredServerOptions } from 'clustered-server'

const options: ClusteredServerOptions = { workers: 'auto', heartbeatTimeout: false }
const server = await createClusteredServer(new URL('./app.ts', import.meta.url), options)
server.on('workerExit', ({ id, code, expected }) => console.log(id.toFixed(), code?.toFixed(), expected === true))
const generation: number = server.status().generation
await server.reload().catch((error: unknown) => {
  if (error instanceof ClusteredServerError && error.code === 'CLUSTERED_SERVER_RELOAD_FAILED') console.log(generation)
})
// @ts-expect-error There is no such option.
await createClusteredServer(new URL('./app.ts', import.meta.url), { worker: 2 })
// @ts-expect-error There is no such event.
server.on('workerExits', () => {})
`,
  'tsconfig.json': tsconfig(['types.ts', 'warm.ts', 'settings.ts', 'metrics.ts', ...Object.keys(samples)]),
}

beforeAll(() => tarball.install(FILES, ['fastify', '@types/node']))

afterAll(() => tarball.remove())

isWellPacked(tarball, {
  dependencies: ['checked-options'],
  values: [
    'ClusteredServerError',
    'availableCores',
    'createClusteredServer',
    'defineConfig',
    'errorCodes',
    'identifyBuild',
    'runOnOneWorker',
  ],
  types: [
    'AdminAddress',
    'AdminOptions',
    'BlockedLoopReport',
    'BlockedLoopReportKind',
    'Build',
    'ClusterStatus',
    'ClusteredServer',
    'ClusteredServerConfig',
    'ClusteredServerErrorClass',
    'ClusteredServerErrorCode',
    'ClusteredServerEvents',
    'ClusteredServerOptions',
    'LingerEndReason',
    'LingerOptions',
    'LingeringBuild',
    'Logger',
    'RecycleOptions',
    'RecycleReason',
    'ReloadedRelease',
    'RequestedBuild',
    'Task',
    'WorkerExit',
    'WorkerName',
    'WorkerState',
    'WorkerStats',
    'WorkerStatus',
  ],
})

describe('in an empty project', () => {
  it('the quick start of the README answers from another process, and ends with 0', async () => {
    expect(server).not.toContain('3000')
    const answers: Promise<unknown>[] = []
    const { code, output } = await run(project, [process.execPath, 'server.ts'], (said, end) => {
      const origin = /http:\/\/localhost:\d+\n/.exec(said)?.[0].trim()
      if (!origin || answers.length > 0) return
      answers.push(
        fetch(origin)
          .then((response) => response.json())
          .finally(end),
      )
    })
    expect([code, output]).toEqual([0, expect.stringMatching(/^http:\/\/localhost:\d+\n$/)])
    expect(answers).toHaveLength(1)
    expect(await answers[0]).toEqual({ pid: expect.any(Number) })
  })

  it.skipIf(process.platform === 'win32')('workers answer, and with one there is only this process', async () => {
    expect(await run(project, [process.execPath, 'warm.ts'])).toMatchObject({ code: 0, output: 'true\nfalse\n' })
  })

  it.skipIf(process.platform === 'win32')(
    'responds 200 on /metrics without the optional peer prom-client',
    async () => {
      expect(await run(project, [process.execPath, 'metrics.ts'])).toMatchObject({ code: 0, output: '200 0\n200 2\n' })
    },
  )

  it.skipIf(process.platform === 'win32').each([
    ['app.ts', 200],
    ['jobs-app.ts', 404],
  ])('the command runs %s of the README, and ends with 0', async (app, status) => {
    const answers: Promise<Response>[] = []
    const command = [tarball.program('clustered-server'), app, '--workers', '2', '--port', '0', '--host', '127.0.0.1']
    const { code, output } = await run(project, command as [string, ...string[]], (said, end) => {
      const port = /"port":(\d+)/.exec(said)?.[1]
      if (port && answers.length === 0) answers.push(fetch(`http://127.0.0.1:${port}`).finally(end))
    })
    expect([code, output]).toEqual([0, expect.stringContaining('"msg":"closed"')])
    expect((await answers[0])?.status).toBe(status)
    // Workers end as expected ones.
    expect(output).not.toContain('"level":50')
  })

  it.skipIf(process.platform === 'win32')('the command runs the app of the sample configuration', async () => {
    const responses: Promise<Response>[] = []
    const command = [tarball.program('clustered-server'), '--config', 'settings.ts'] as [string, ...string[]]
    const { code, output } = await run(project, command, (said, end) => {
      const port = /"port":(\d+)/.exec(said)?.[1]
      if (port && responses.length === 0) responses.push(fetch(`http://127.0.0.1:${port}`).finally(end))
    })
    expect([code, output]).toEqual([0, expect.stringContaining('"msg":"closed"')])
    expect((await responses[0])?.status).toBe(200)
  })

  it.skipIf(process.platform === 'win32')(
    'the command inside a link reloads after the first release was deleted with its node_modules',
    async () => {
      const releases = join(project, 'releases')
      const link = (release: number): void => {
        symlinkSync(`releases/${release}`, join(project, 'next'))
        renameSync(join(project, 'next'), join(project, 'current'))
      }
      for (const release of [1, 2]) {
        const folder = join(releases, String(release))
        mkdirSync(folder, { recursive: true })
        cpSync(join(project, 'node_modules'), join(folder, 'node_modules'), { recursive: true, verbatimSymlinks: true })
        const app = `import 'fastify'\nexport default (_, response) => response.end('release ${release}')\n`
        writeFileSync(join(folder, 'app.mjs'), app)
      }
      link(1)
      const bodies: Promise<string>[] = []
      const bodyOf = async (port: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}`)).text()
      const command = 'node_modules/.bin/clustered-server app.mjs --workers 2 --no-standby --port 0 --host 127.0.0.1'
      const deploy = (child: ChildProcess): void => {
        link(2)
        rmSync(join(releases, '1'), { recursive: true })
        child.kill('SIGHUP')
      }
      const { output } = await run(project, ['sh', '-c', `cd current && exec ${command}`], (said, end, child) => {
        const port = /"port":(\d+)/.exec(said)?.[1]
        if (port !== undefined && bodies.length === 0) {
          bodies.push(bodyOf(port).finally(() => deploy(child)))
        }
        if (said.includes('reloaded: generation 2') && bodies.length === 1) bodies.push(bodyOf(port!).finally(end))
      })
      expect(await Promise.all(bodies)).toEqual(['release 1', 'release 2'])
      expect(output).toContain(join(realpathSync(releases), '2/app.mjs'))
      expect(output).not.toContain('"level":50')
    },
  )

  it('its types and those of the README hold', async () => {
    expect(await tarball.tsc()).toEqual({ code: 0, stdout: '', output: '' })
  })

  it('its own types hold', async () => {
    expect(await tarball.errorsInTypes()).toEqual([])
  })
})

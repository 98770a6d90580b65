import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { ClusteredServer, ClusteredServerOptions, BlockedLoopReport, WorkerName } from '../../src/index.ts'
import { connectTo, RawConnection } from '../helpers/fault-load.ts'
import { settled, startServer } from '../helpers/running-server.ts'

const app = new URL('../fixtures/apps/faults.ts', import.meta.url)
const line =
  1 +
  readFileSync(app, 'utf8')
    .split('\n')
    .findIndex((text) => text.includes('for (;;);'))

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'clustered-server-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

async function start(options: ClusteredServerOptions): Promise<ClusteredServer> {
  const server = await startServer('faults.ts', { heartbeatTimeout: 1000, ...options })
  await settled(server)
  return server
}

/** Has a worker loop for ever, and resolves with what was reported once another one has taken its place. */
async function blocked(server: ClusteredServer): Promise<WorkerName & BlockedLoopReport> {
  const reported = once(server, 'blockedLoopReport')
  const exit = once(server, 'workerExit')
  const victim = new RawConnection(connectTo(server.port)())
  const lost = victim.ask('GET /block HTTP/1.1\r\nhost: test\r\n\r\n')
  const [report] = (await reported) as [WorkerName & BlockedLoopReport]
  await expect(exit).resolves.toMatchObject([{ id: report.id, signal: 'SIGKILL', expected: false }])
  await lost
  await settled(server)
  return report
}

it('writes the call stack of an endless loop to a file, and logs its first line', async () => {
  const directory = join(folder(), 'made', 'when needed')
  const logged: string[] = []
  const logger = { info: () => {}, warn: () => {}, error: (_: object, text: string) => void logged.push(text) }
  const server = await start({ blockedLoopReport: 'stack', reportDirectory: directory, logger })
  const { id, pid, file, at, failure } = await blocked(server)
  expect(failure).toBeUndefined()
  expect(at).toMatch(`answer (${app.href}:${line}:`)
  expect(readdirSync(directory).map((name) => join(directory, name))).toEqual([file])
  expect(file).toMatch(new RegExp(`/blocked-[\\dTZ.-]+-worker-${id}\\.txt$`))
  const [head, first, ...rest] = readFileSync(file!, 'utf8').split('\n')
  expect(head).toBe(`Worker ${id}, process ${pid}: its event loop was blocked here.`)
  expect(first).toBe(`    at ${at}`)
  // The server of this app calls it for a request.
  expect(rest).toContainEqual(expect.stringContaining(`(${app.href}:`))
  expect(rest).toContainEqual(expect.stringContaining('(node:_http_server:'))
  // What waits in each worker keeps none from its end.
  await server.reload()
  await server.close()
  expect(logged).toContain(`worker ${id} was blocked: ${at}, see ${file}`)
})

it('writes a CPU profile of a blocked event loop', async () => {
  const directory = folder()
  const server = await start({ blockedLoopReport: 'profile', reportDirectory: directory })
  const { file, at } = await blocked(server)
  expect(file).toMatch(/\.cpuprofile$/)
  expect(at).toMatch(`answer (${app.href}:${line}:`)
  const { nodes, startTime, endTime } = JSON.parse(readFileSync(file!, 'utf8')) as {
    nodes: { callFrame: { functionName: string; url: string }; hitCount: number }[]
    startTime: number
    endTime: number
  }
  // In microseconds.
  expect(endTime - startTime).toBeGreaterThan(400_000)
  const hits = nodes.filter(({ callFrame }) => callFrame.functionName === 'answer').map(({ hitCount }) => hitCount)
  expect(Math.max(...hits)).toBeGreaterThan(10)
})

it('kills and replaces a stopped worker, and reports why there is no report', async () => {
  const server = await start({ blockedLoopReport: 'stack', reportDirectory: folder() })
  const [worker] = server.status().workers
  const reported = once(server, 'blockedLoopReport')
  process.kill(worker!.pid!, 'SIGSTOP')
  const failure = 'no report within 2000 ms: the process is stopped, or blocked outside of JavaScript'
  await expect(reported).resolves.toMatchObject([{ id: worker!.id, file: undefined, failure }])
  await expect.poll(() => server.status().workers.some(({ id }) => id === worker!.id), { timeout: 10_000 }).toBe(false)
  await settled(server)
})

it('reports a directory that is not writable', async () => {
  const directory = join(folder(), 'no-folder')
  writeFileSync(directory, '')
  const server = await start({ blockedLoopReport: 'stack', reportDirectory: directory })
  expect(await blocked(server)).toMatchObject({
    file: undefined,
    failure: expect.stringMatching(/^EEXIST: /) as unknown,
  })
})

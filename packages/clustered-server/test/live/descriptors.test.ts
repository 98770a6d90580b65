import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { WorkerName } from '../../src/index.ts'
import { appPath, Command } from '../helpers/command.ts'
import { connectTo, isAnswer, RawConnection } from '../helpers/fault-load.ts'
import { descriptorsOf, isAlive, settled, startProcess, startServer } from '../helpers/running-server.ts'

/** Whether there is what sets the limit of a process that runs. */
const canLimit = spawnSync('prlimit', ['--pid', String(process.pid)]).status === 0

const reloads = Number(process.env['RELOADS'] ?? 10)

function ask(connection: RawConnection, path = '/answer/1'): Promise<unknown> {
  return connection.ask(`GET ${path} HTTP/1.1\r\nhost: test\r\n\r\n`).then(([result]) => result)
}

const answer = { status: 200, body: '1' }

it('no process keeps descriptors of handed over connections', { timeout: 600_000 }, async ({ annotate }) => {
  // A busy machine may take longer for a reload than connections may be idle by default.
  const server = await startServer('patient.ts')
  const connections = Array.from({ length: 100 }, () => new RawConnection(connectTo(server.port)()))
  await Promise.all(connections.map((one) => ask(one)))
  const count = async (): Promise<{ primary: number; workers: number }> => {
    await settled(server)
    // All connections are here and there.
    await expect
      .poll(() => server.status().workers.reduce((sum, worker) => sum + worker.connections, 0), { timeout: 10_000 })
      .toBe(100)
    const workers = server.status().workers.map(({ pid }) => descriptorsOf(pid!))
    return { primary: descriptorsOf(process.pid), workers: workers.reduce((a, b) => a + b) }
  }
  await server.reload()
  const before = await count()
  for (let reload = 0; reload < reloads; reload++) {
    await server.reload()
    await Promise.all(connections.map((one) => ask(one)))
  }
  const after = await count()
  await annotate(`${JSON.stringify(before)} before ${reloads} reloads, ${JSON.stringify(after)} after`)
  // Some belong to the runner of tests, and come and go.
  expect(after.primary).toBeLessThan(before.primary + 10)
  expect(after.workers).toBeLessThan(before.workers + 10)
  expect(connections.filter(({ isClosed }) => isClosed)).toEqual([])
  for (const connection of connections) connection.close()
})

it.runIf(canLimit)('moves no connection into a worker without a free descriptor', { timeout: 60_000 }, async () => {
  const server = await startServer('faults.ts')
  const lost: unknown[] = []
  server.on('connectionLost', (event) => lost.push(event))
  const connections = Array.from({ length: 40 }, () => new RawConnection(connectTo(server.port)()))
  const ofWorkers = (): number[] =>
    server.status().workers.flatMap((one) => (one.state === 'active' ? one.connections : []))
  await expect.poll(ofWorkers, { timeout: 10_000 }).toSatisfy(([a, b]) => a + b === 40 && Math.abs(a - b) < 9)
  const pids = await Promise.all(connections.map((connection) => ask(connection, '/pid')))
  const full = server.status().workers.find(({ state }) => state === 'active')!.pid!
  const limit = (files: number): Buffer => execFileSync('prlimit', ['--pid', String(full), `--nofile=${files}:4096`])
  // Those below are in use.
  limit(12)
  const isLeaving = connections.map((_, index) => (pids[index] as { body: string }).body === String(full))
  for (const [index, connection] of connections.entries()) if (isLeaving[index]) connection.close()
  // The other worker leads by far, and tries to hand connections over.
  await wait(1500)
  const open = connections.filter((_, index) => !isLeaving[index])
  expect(await Promise.all(open.map((one) => ask(one)))).toEqual(open.map(() => answer))
  expect(lost).toEqual([])
  expect(Math.min(...ofWorkers())).toBe(0)
  limit(4096)
  await expect.poll(() => Math.min(...ofWorkers()), { timeout: 10_000 }).toBeGreaterThan(0)
  expect(await Promise.all(open.map((one) => ask(one)))).toEqual(open.map(() => answer))
  for (const connection of open) connection.close()
})

it('keeps running without free descriptors', { timeout: 120_000 }, async ({ annotate }) => {
  const server = await startProcess(['sh', '-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath])
  const kept = Array.from({ length: 10 }, () => new RawConnection(connectTo(server.port)()))
  for (const connection of kept) expect(await ask(connection)).toEqual(answer)
  const many = Array.from({ length: 300 }, () => new RawConnection(connectTo(server.port)(), 1000))
  const results = await Promise.all(many.map((one) => ask(one)))
  const answered = results.filter((result) => isAnswer(result as never))
  await annotate(`${answered.length} of ${many.length} were answered`)
  // The test has used up what there was.
  expect(answered.length).toBeLessThan(many.length)
  for (const connection of kept) expect(await ask(connection)).toEqual(answer)
  for (const connection of many) connection.close()
  await wait(300)
  expect(server.workers.filter(isAlive)).toEqual(server.workers)
  for (const connection of Array.from({ length: 10 }, () => new RawConnection(connectTo(server.port)()))) {
    expect(await ask(connection)).toEqual(answer)
    connection.close()
  }
  await server.reload()
  for (const connection of kept) expect(await ask(connection)).toEqual(answer)
})

it('keeps running without free descriptors during a reload', { timeout: 120_000 }, async ({ annotate }) => {
  const server = await startProcess(['sh', '-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath])
  const many = Array.from({ length: 80 }, () => new RawConnection(connectTo(server.port)(), 3000))
  const results = await Promise.all(many.map((one) => ask(one)))
  const open = many.filter((_, index) => isAnswer(results[index] as never))
  // Two workers have more than the third one can take at once.
  await server.reload()
  await wait(500)
  const again = await Promise.all(open.map((one) => ask(one)))
  const answered = again.filter((result) => isAnswer(result as never))
  await annotate(`${open.length} connections before, ${answered.length} after`)
  expect(answered.length).toBeGreaterThan(0)
  for (const connection of many) connection.close()
  await wait(300)
  const fresh = new RawConnection(connectTo(server.port)())
  expect(await ask(fresh)).toEqual(answer)
  fresh.close()
})

it.runIf(canLimit)('logs a worker that closes new connections, each second', { timeout: 60_000 }, async () => {
  const lines: string[] = []
  const ignore = (): void => {}
  const logger = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (_: object, text: string) => void lines.push(text),
  }
  const server = await startServer('faults.ts', { logger })
  const { pid } = server.status().workers.find(({ state }) => state === 'active')!
  const limit = (files: number): Buffer => execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:4096`])
  // Those below are in use.
  limit(12)
  const [worker] = (await once(server, 'workerFull')) as [WorkerName]
  expect(worker).toMatchObject({ pid })
  await once(server, 'workerFull')
  limit(4096)
  expect(lines).toContain(
    `process ${pid} has no free file descriptor, connections are closed: raise its limit of open files`,
  )
})

it.runIf(canLimit)('logs one process that closes new connections', { timeout: 60_000 }, async () => {
  const command = new Command([appPath('faults'), '--workers', '1', '--port', '0'])
  onTestFinished(() => command.end())
  const { port } = await command.listening()
  const { pid } = command.child
  const limit = (files: number): Buffer => execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:4096`])
  // Those below are in use.
  limit(12)
  const { level, msg } = await command.logged((line) => line.msg.includes('has no free file descriptor'))
  expect({ level, msg }).toEqual({
    level: 50,
    msg: `process ${pid} has no free file descriptor, connections are closed: raise its limit of open files`,
  })
  limit(4096)
  const fresh = new RawConnection(connectTo(port!)())
  expect(await ask(fresh)).toEqual(answer)
  fresh.close()
})

it('reports a worker without a descriptor for handed over connections', { timeout: 120_000 }, async (context) => {
  const limited = ['sh', '-c', 'ulimit -n 64; exec "$0" "$@"']
  const command = new Command([appPath('faults'), '--workers', '2', '--port', '0', '--no-standby'], {}, limited)
  onTestFinished(() => command.end())
  const { port } = await command.listening()
  const many = Array.from({ length: 80 }, () => new RawConnection(connectTo(port!)(), 3000))
  const results = await Promise.all(many.map((one) => ask(one)))
  const open = many.filter((_, index) => isAnswer(results[index] as never))
  // One of the two leaves, and the other one cannot have all.
  command.kill('SIGTTOU')
  const { level, msg } = await command.logged((line) => line.msg.includes('has no free file descriptor'))
  expect(level).toBe(50)
  await command.logged((line) => /^worker \d ended with code 0$/.test(line.msg))
  const again = await Promise.all(open.map((one) => ask(one)))
  const answered = again.filter((result) => isAnswer(result as never))
  await context.annotate(`${open.length} connections before, ${answered.length} after: ${msg}`)
  // Those that were lost are closed, and nobody waits for an answer.
  expect(answered.length).toBeGreaterThan(0)
  expect(answered.length).toBeLessThan(open.length)
  expect(again).not.toContain('timeout')
  for (const connection of many) connection.close()
})

it.runIf(canLimit)(
  'reports a primary without a descriptor for a connection in handover',
  { timeout: 120_000 },
  async () => {
    const command = new Command([appPath('faults'), '--workers', '2', '--port', '0', '--no-standby'])
    onTestFinished(() => command.end())
    const { port } = await command.listening()
    const { pid } = command.child
    const many = Array.from({ length: 40 }, () => new RawConnection(connectTo(port!)(), 3000))
    for (const connection of many) expect(await ask(connection)).toEqual(answer)
    // Those below are in use.
    execFileSync('prlimit', ['--pid', String(pid), '--nofile=12:4096'])
    command.kill('SIGTTOU')
    const { msg } = await command.logged((line) => line.msg.includes('has no free file descriptor'))
    expect(msg).toMatch(`process ${pid} has`)
    execFileSync('prlimit', ['--pid', String(pid), '--nofile=4096:4096'])
    await command.logged((line) => /^worker \d ended with code 0$/.test(line.msg))
    expect(await Promise.all(many.map((one) => ask(one)))).not.toContain('timeout')
    const fresh = new RawConnection(connectTo(port!)())
    expect(await ask(fresh)).toEqual(answer)
    for (const connection of [...many, fresh]) connection.close()
  },
)

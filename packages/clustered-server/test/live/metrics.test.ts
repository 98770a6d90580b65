import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { type ClusteredServer, type ClusteredServerOptions, createClusteredServer } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'

const app = (name: string): URL => new URL(`../fixtures/apps/${name}.ts`, import.meta.url)
/** Metrics are good for a second. */
const FRESH = 1100

let server: ClusteredServer | undefined
afterEach(() => server?.close())

async function start(name: string, options: ClusteredServerOptions): Promise<void> {
  const standard = { port: 0, host: '127.0.0.1', signals: false, admin: { port: 0 } } as const
  server = await createClusteredServer(app(name), { ...standard, ...options })
}

async function ask(path: string = '/0'): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${server!.port}${path}`, { headers: { connection: 'close' } })
  return answer.text()
}

async function metrics(): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${server!.admin!.port}/metrics`)
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  return response.text()
}

/** The value of a sample, as it is when those of the last second are not told any more. */
async function value(sample: string): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, FRESH))
  return valueIn(await metrics(), sample)
}

function valueIn(text: string, sample: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${sample} `))
  return Number(line?.split(' ').at(-1))
}

describe.each([1, 3])('with %i workers', (workers) => {
  it('sums the counters of the app', async () => {
    await start('measured', { workers, standby: false })
    for (let request = 0; request < 30; request++) await ask()
    const text = await metrics()
    expect([valueIn(text, 'answers_total'), valueIn(text, 'up_now')]).toEqual([30, workers])
    expect(text).toContain('# TYPE answers_total counter\n')
  })

  it('uses the registry that the app exports', async () => {
    await start('own-registry', { workers, standby: false })
    for (let request = 0; request < 10; request++) await ask()
    expect(valueIn(await metrics(), 'own_answers_total')).toBe(10)
  })
})

it('has no app metrics without prom-client', async () => {
  await start('hello', { workers: 2 })
  expect((await metrics()).match(/^# TYPE (?!clustered_server_)/gm)).toBeNull()
})

it('counters do not fall on a reload, gauges do', async () => {
  await start('measured', { workers: 2, standby: false })
  for (let request = 0; request < 20; request++) await ask()
  expect(valueIn(await metrics(), 'answers_total')).toBe(20)
  // What is counted after that is told by the workers when they end.
  for (let request = 0; request < 5; request++) await ask()
  for (let reload = 0; reload < 2; reload++) await server!.reload()
  await eventually(() => server!.status().workers.length === 2 || undefined)
  expect(await value('answers_total')).toBe(25)
  for (let request = 0; request < 5; request++) await ask()
  expect([await value('answers_total'), await value('up_now')]).toEqual([30, 2])
})

it('counts requests of workers that ended before the first scrape', async () => {
  await start('measured', { workers: 4, standby: false })
  for (let request = 0; request < 20; request++) await ask()
  // More workers than the primary keeps one by one.
  for (let reload = 0; reload < 3; reload++) await server!.reload()
  await eventually(() => server!.status().workers.length === 4 || undefined)
  for (let request = 0; request < 5; request++) await ask()
  expect(valueIn(await metrics(), 'answers_total')).toBe(25)
})

it('ends workers whose registry does not respond', async () => {
  await start('hanging-metrics', { workers: 2, standby: false })
  const ended = once(server!, 'workerExit')
  await server!.reload()
  expect(await ended).toEqual([expect.objectContaining({ code: 0, signal: null, expected: true })])
})

it('counters do not fall when a worker is killed', async () => {
  await start('measured', { workers: 2, standby: false })
  for (let request = 0; request < 20; request++) await ask()
  expect(valueIn(await metrics(), 'answers_total')).toBe(20)
  const dead = once(server!, 'workerExit')
  process.kill(server!.status().workers[0]!.pid!, 'SIGKILL')
  await dead
  expect(await value('answers_total')).toBe(20)
})

it('a worker with a blocked event loop adds only its latest counters', async () => {
  await start('measured', { workers: 2, standby: false, heartbeatTimeout: false })
  for (let request = 0; request < 20; request++) await ask()
  const text = await metrics()
  expect([valueIn(text, 'answers_total'), valueIn(text, 'up_now')]).toEqual([20, 2])
  const blocked = ask('/5000')
  expect(await value('up_now')).toBe(1)
  expect(valueIn(await metrics(), 'answers_total')).toBe(20)
  await blocked
  expect(await value('answers_total')).toBe(21)
})

it('has the metrics of the server', async () => {
  await start('hello', { workers: 2 })
  await server!.reload()
  const { pid } = server!.status().workers.find(({ state }) => state === 'active')!
  process.kill(pid!, 'SIGKILL')
  // Those that the reload has replaced may end meanwhile too.
  await eventually(() => server!.status().workers.every((worker) => worker.pid !== pid) || undefined)
  await eventually(() => server!.status().workers.filter(({ state }) => state === 'active').length === 2 || undefined)
  const text = await metrics()
  const names = [
    'ready',
    'generation',
    'workers{state="active"}',
    'reloads_total{done="true"}',
    'reloads_total{done="false"}',
    'worker_exits_total{expected="false"}',
  ]
  expect(names.map((name) => valueIn(text, `clustered_server_${name}`))).toEqual([1, 2, 2, 1, 0, 1])
  const { id } = server!.status().workers.at(0)!
  expect(valueIn(text, `clustered_server_worker_rss_bytes{worker="${id}"}`)).toBeGreaterThan(1e6)
})

it('coalesces concurrent requests for metrics', async () => {
  await start('measured', { workers: 2, standby: false })
  await ask()
  const texts = await Promise.all(Array.from({ length: 20 }, () => metrics()))
  expect(new Set(texts).size).toBe(1)
})

// The command `aggregator-gateway` as a process: checks, signals and reloads under load.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { jsonUpstream, sendJson, upstream } from '../helpers/servers.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

interface Command {
  readonly process: ChildProcess
  readonly path: string
  /** All that it has printed. */
  readonly output: () => string
  /** Replaces the file, as editors do. */
  readonly write: (config: object | string) => void
  readonly exit: Promise<number | null>
}

function command(config: object | string, args: readonly string[] = [], env: Record<string, string> = {}): Command {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-command-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'gateway.json')
  const write = (one: object | string): void => {
    writeFileSync(`${path}.new`, typeof one === 'string' ? one : JSON.stringify(one))
    renameSync(`${path}.new`, path)
  }
  write(config)
  return { ...commandIn(folder, args, env), path, write }
}

/** The command in a folder that has a file. */
function commandIn(
  folder: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Pick<Command, 'process' | 'output' | 'exit'> {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, env: { ...process.env, ...env } })
  const exit = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exit
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  return { process: child, output: () => output, exit }
}

const configOf = (origin: string, path = '/one'): object => ({
  port: 0,
  host: '127.0.0.1',
  stopTimeout: 5000,
  upstreams: { it: origin },
  endpoints: [
    { path: '/x', timeout: 60_000, calls: { value: { upstream: 'it', path } } },
    { path: '/events', passThrough: { upstream: 'it', path: '/events', heartbeat: 50 } },
  ],
})

async function started(one: Pick<Command, 'output'>): Promise<string> {
  await expect.poll(one.output).toContain('listening on ')
  return /listening on (\S+)/.exec(one.output())![1]!
}

it('keeps serving and reloading when the readers of its output have gone', async () => {
  const origin = await jsonUpstream((path) => path)
  const gateway = command(configOf(origin))
  const url = await started(gateway)
  gateway.process.stdout!.destroy()
  gateway.process.stderr!.destroy()
  // The gateway has a line to print about each of these files, before it reads the next one.
  for (const config of [configOf(origin, '/two'), '{', configOf(origin, '/three'), configOf(origin, '/four')]) {
    gateway.write(config)
    gateway.process.kill('SIGHUP')
    if (typeof config === 'string') continue
    const { path } = (config as { endpoints: [{ calls: { value: { path: string } } }] }).endpoints[0].calls.value
    await expect.poll(async () => (await fetch(`${url}/x`)).json()).toEqual({ value: path })
  }
  gateway.process.kill('SIGTERM')
  expect(await gateway.exit).toBe(0)
})

it('prints its help to a reader that has gone without an error', async () => {
  const { process: child, output, exit } = commandIn(tmpdir(), ['--help'])
  child.stdout!.destroy()
  expect(await exit).toBe(0)
  expect(output()).toBe('')
})

describe('--check', () => {
  it.each([
    ['a valid file', configOf('http://127.0.0.1:1'), 0, 'gateway.json is valid: 1 upstream, 2 endpoints\n'],
    [
      'an unknown option',
      { upstreams: {}, endpoints: [], wrong: 1 },
      1,
      'aggregator-gateway: gateway.json: Invalid option "wrong": unknown. Known here: ',
    ],
    [
      'a missing variable',
      configOf('${NOT_THERE}'),
      1,
      'aggregator-gateway: gateway.json: Missing environment variables: NOT_THERE (upstreams.it)\n',
    ],
  ])('tells the code and one line for %s', async (_title, config, code, line) => {
    const one = command(config, ['--check'])
    expect(await one.exit).toBe(code)
    expect(one.output()).toContain(line)
    expect(one.output().trimEnd().split('\n')).toHaveLength(1)
  })

  it.each([
    [['--wrong'], "aggregator-gateway: Unknown option '--wrong': see --help\n"],
    [['--port'], "aggregator-gateway: Option '--port <value>' argument missing: see --help\n"],
    [['a.json', 'b.json'], 'expected one file, got 2: see --help'],
    [['--port', 'x'], 'expected a port from 0 to 65535 for --port, got "x"'],
  ])('exits with 2 for %j', async (args, line) => {
    const one = command({}, args)
    expect(await one.exit).toBe(2)
    expect(one.output()).toContain(line)
  })
})

it('prints its help in 80 columns', async () => {
  const one = command({}, ['--help'])
  expect(await one.exit).toBe(0)
  const lines = one.output().split('\n')
  expect(lines[0]).toBe('Usage: aggregator-gateway [file] [options]')
  expect(lines.filter((line) => line.length > 80)).toEqual([])
})

it('reloads by SIGHUP and --watch under load, and drops no request', async () => {
  const origin = await jsonUpstream((path) => path)
  const one = command(configOf(origin), ['gateway.json', '--watch'])
  const url = await started(one)
  const done = new AbortController()
  const seen = new Set<string>()
  const failures: unknown[] = []
  const clients = Array.from({ length: 8 }, async () => {
    while (!done.signal.aborted) {
      await fetch(`${url}/x`)
        .then(async (response) => seen.add(`${response.status} ${await response.text()}`))
        .catch((error: unknown) => failures.push(error))
    }
  })
  for (let reload = 1; reload <= 5; reload++) {
    one.write(configOf(origin, `/version-${reload}`))
    if (reload % 2 === 0) one.process.kill('SIGHUP')
    await expect.poll(() => [...seen]).toContain(`200 {"value":"/version-${reload}"}`)
  }
  one.write('{')
  await expect.poll(one.output).toContain('not reloaded: gateway.json: ')
  expect((await fetch(`${url}/x`)).status).toBe(200)
  done.abort()
  await Promise.all(clients)
  expect(failures).toEqual([])
  expect([...seen].filter((text) => !text.startsWith('200 '))).toEqual([])
  one.process.kill('SIGTERM')
  expect(await one.exit).toBe(0)
})

describe('with a request that runs', () => {
  const slow = async () => {
    const held: ServerResponse[] = []
    const origin = await upstream((request, response) => {
      if (request.url === '/events')
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      else held.push(response)
    })
    const one = command(configOf(origin))
    const url = await started(one)
    const request = fetch(`${url}/x`).then(async (response) => [response.status, await response.text()])
    await expect.poll(() => held.length).toBe(1)
    return { one, url, request, held }
  }

  it('a reload lets it end', async () => {
    const { one, request, held } = await slow()
    one.write(configOf('http://127.0.0.1:1'))
    one.process.kill('SIGHUP')
    await expect.poll(one.output).toContain('reloaded gateway.json')
    sendJson(held[0]!, '7')
    expect(await request).toEqual([200, '{"value":7}'])
  })

  it('SIGTERM lets it end, and ends event streams', async () => {
    const { one, url, request, held } = await slow()
    const [events] = (await once(get(`${url}/events`), 'response')) as [IncomingMessage]
    const ended = once(events.resume(), 'end')
    one.process.kill('SIGTERM')
    await ended
    sendJson(held[0]!, '7')
    expect(await request).toEqual([200, '{"value":7}'])
    expect(await one.exit).toBe(0)
  })
})

it.each([
  ['SIGHUP', 'reloaded gateway.config.mjs', 'SIGTERM'],
  ['SIGTERM', 'listening on ', 0],
] as const)('obeys a %s that comes while it starts', async (signal, text, end) => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-signals-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const config = `globalThis.sent ??= process.kill(process.pid, '${signal}')
export default ${JSON.stringify(configOf('http://127.0.0.1:1'))}
`
  writeFileSync(join(folder, 'gateway.config.mjs'), config)
  const one = commandIn(folder)
  await expect.poll(one.output).toContain(text)
  one.process.kill(end)
  expect(await one.exit).toBe(0)
})

it('a reload lets event streams go on', async () => {
  const sources: ServerResponse[] = []
  const origin = await upstream((_request, response) => {
    sources.push(response)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
  })
  const one = command(configOf(origin))
  const [events] = (await once(get(`${await started(one)}/events`), 'response')) as [IncomingMessage]
  let text = ''
  events.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  one.process.kill('SIGHUP')
  await expect.poll(one.output).toContain('reloaded gateway.json')
  sources[0]!.write('data: 2\n\n')
  await expect.poll(() => text).toContain('data: 2\n\n')
  events.destroy()
})

it('reloads a module with the metrics of Prometheus, which count on', async () => {
  const origin = await jsonUpstream(() => 1)
  const folder = mkdtempSync(join(tmpdir(), 'gateway-command-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const observer = new URL('../../src/observability/prometheus.ts', import.meta.url)
  const client = pathToFileURL(createRequire(import.meta.url).resolve('prom-client'))
  writeFileSync(
    join(folder, 'gateway.config.mjs'),
    `import { prometheusObserver } from '${observer.href}'
import { register } from '${client.href}'
export default {
  ...${JSON.stringify(configOf(origin))},
  observers: [prometheusObserver(), { callEnded: async () => {
    const { values } = await register.getSingleMetric('gateway_call_duration_seconds').get()
    console.log('counted', values.find(({ metricName }) => metricName.endsWith('_count')).value)
  } }],
}
`,
  )
  const one = commandIn(folder)
  const url = await started(one)
  await fetch(`${url}/x`)
  one.process.kill('SIGHUP')
  await expect.poll(one.output).toContain('reloaded gateway.config.mjs')
  await fetch(`${url}/x`)
  await expect.poll(one.output).toContain('counted 2')
})

it('exits with 1 if the port is taken', async () => {
  const url = await started(command(configOf('http://127.0.0.1:1')))
  const { port } = new URL(url)
  const other = command(configOf('http://127.0.0.1:1'), ['--port', port, '--host', '127.0.0.1'])
  expect(await other.exit).toBe(1)
  expect(other.output()).toBe(`aggregator-gateway: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`)
})

it('--watch reloads when a link to the file changes, as Kubernetes changes a ConfigMap', async () => {
  const origin = await jsonUpstream((path) => path)
  const folder = mkdtempSync(join(tmpdir(), 'gateway-links-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const version of ['1', '2']) {
    mkdirSync(join(folder, version))
    writeFileSync(join(folder, version, 'gateway.json'), JSON.stringify(configOf(origin, `/version-${version}`)))
  }
  symlinkSync('1', join(folder, '..data'))
  symlinkSync(join('..data', 'gateway.json'), join(folder, 'gateway.json'))
  const linked = commandIn(folder, ['--watch'])
  const url = await started(linked)
  expect(await (await fetch(`${url}/x`)).json()).toEqual({ value: '/version-1' })
  symlinkSync('2', join(folder, '..data_tmp'))
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
  await expect.poll(async () => await (await fetch(`${url}/x`)).json()).toEqual({ value: '/version-2' })
})

it('--watch reloads a file that has changed during the start', async () => {
  const origin = await jsonUpstream((path) => path)
  const folder = mkdtempSync(join(tmpdir(), 'gateway-start-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const module = (path: string): string => `export default ${JSON.stringify(configOf(origin, path))}\n`
  // The module is changed once it has been read, by itself.
  const change = `import { writeFileSync } from 'node:fs'
    writeFileSync(import.meta.filename, ${JSON.stringify(module('/version-2'))})\n`
  writeFileSync(join(folder, 'gateway.config.mjs'), change + module('/version-1'))
  const changed = commandIn(folder, ['--watch'])
  const url = await started(changed)
  await expect.poll(async () => await (await fetch(`${url}/x`)).json()).toEqual({ value: '/version-2' })
})

it('--watch does not reload a file that has not changed', async () => {
  const one = command(configOf(await jsonUpstream((path) => path)), ['--watch'])
  await started(one)
  one.write(configOf('http://127.0.0.1:9', '/other'))
  await expect.poll(one.output).toContain('reloaded gateway.json')
  expect(one.output().match(/reloaded/g)).toHaveLength(1)
})

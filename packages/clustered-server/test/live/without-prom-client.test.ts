import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { Command } from '../helpers/command.ts'
import { copyPackage } from '../helpers/without-workspace.ts'

const run = promisify(execFile)

const HELLO = `export default (request, response) => response.end('hello')\n`
/** As an app does that a bundler has put into one file with its prom-client. */
const BUNDLED = `
const metric = { name: 'bundled_total', help: 'Bundled.', type: 'counter', aggregator: 'sum', values: [{ value: 1, labels: {} }] }
export const metrics = {
  getMetricsAsJSON: async () => [metric],
  metrics: async () => 'bundled_total 1\\n',
}
${HELLO}`
const BROKEN = `
export const metrics = {
  getMetricsAsJSON: async () => { throw new Error('the database is away') },
  metrics: async () => { throw new Error('the database is away') },
}
${HELLO}`

/** Has an app run where there is no prom-client, and resolves with the status and text of `/metrics`, and all it logged. */
async function metricsOf(app: string, workers: number): Promise<{ status: number; text: string; command: Command }> {
  const { folder, cli } = copyPackage({ 'app.js': app })
  const probe = run(process.execPath, ['--input-type=module', '--eval', "await import('prom-client')"], { cwd: folder })
  await expect(probe).rejects.toThrow('ERR_MODULE_NOT_FOUND')
  const args = ['--workers', String(workers), '--port', '0', '--host', '127.0.0.1', '--admin-port', '0']
  const command = new Command([join(folder, 'app.js'), ...args], {}, [], cli)
  onTestFinished(() => command.end())
  const { port, admin } = await command.listening()
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('hello')
  const response = await fetch(`http://127.0.0.1:${admin!.port}/metrics`)
  return { status: response.status, text: await response.text(), command }
}

const isReady = expect.stringMatching(/^clustered_server_ready 1$/m) as string

it.each([1, 2])('responds 200 on /metrics without prom-client, with %i workers', async (workers) => {
  const { status, text } = await metricsOf(HELLO, workers)
  expect({ status, text }).toEqual({ status: 200, text: isReady })
  expect(text).not.toContain('missing')
})

it('responds 200 with the metrics of one process whose app bundles its prom-client', async () => {
  const { status, text } = await metricsOf(BUNDLED, 1)
  expect({ status, text }).toEqual({ status: 200, text: isReady })
  expect(text).toContain('bundled_total 1\n')
})

it('says in a comment that the metrics of an app cannot be added up without prom-client', async () => {
  const { status, text } = await metricsOf(BUNDLED, 2)
  expect({ status, text }).toEqual({ status: 200, text: isReady })
  expect(text).toMatch(/^# Metrics of the app are missing: Cannot find package 'prom-client' .*$/m)
})

it.each([
  [1, /^# Metrics of the app are missing: the database is away$/m],
  [2, /^# Metrics of worker 1 are missing: the database is away$/m],
])('keeps %i workers when the registry of the app fails', async (workers, comment) => {
  const { status, text, command } = await metricsOf(BROKEN, workers)
  expect({ status, text }).toEqual({ status: 200, text: isReady })
  expect(text).toMatch(comment)
  expect(command.log.filter(({ level }) => level > 30)).toEqual([])
})

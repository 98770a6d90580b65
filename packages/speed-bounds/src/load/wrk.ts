import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readTree, useBetween } from '../platform/tree-usage.ts'
import { quoteOutput } from '../quote-output.ts'
import type { LoadResult, Workload } from './generator.ts'
import { roundLength } from './round-length.ts'

/** Interval in milliseconds between two readings of wrk's CPU, which nobody can read after its end. */
const POLL_INTERVAL = 50

let running: ChildProcess | undefined

/** Kills wrk, which must not outlive this process. */
export function endWrk(): void {
  running?.kill('SIGKILL')
}

export async function runWorkload({ origin, path, status, load, ...request }: Workload): Promise<LoadResult> {
  // wrk counts only responses other than 2xx and 3xx, so it would take a 503 for an expected 404.
  if (status >= 400) throw new Error(`it cannot tell an expected ${status} from a failure. Use autocannon`)
  const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-'))
  try {
    const script = join(folder, 'workload.lua')
    writeFileSync(script, scriptOf({ path, ...request }, load.pipelining))
    const seconds = roundLength(load) / 1000
    const timeout = Math.ceil(load.requestTimeout / 1000)
    const limits = ['-t', '1', '-c', `${load.connections}`, '-d', `${seconds}s`, '--timeout', `${timeout}s`]
    const { output, cpu, utilization } = await run([...limits, '-s', script, origin + path])
    const line = /^speed-bounds (.*)$/m.exec(output)?.[1]
    if (!line) throw new Error(`it printed no summary.${quoteOutput(output)}`)
    return { ...resultOf(JSON.parse(line) as WrkSummary), utilization, cpu, workCpu: cpu }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The line that the script prints. Times are in microseconds. */
type WrkSummary = Record<
  'requests' | 'elapsed' | 'p50' | 'p90' | 'p99' | 'connect' | 'read' | 'write' | 'timeout' | 'status',
  number
>

function resultOf(summary: WrkSummary): Omit<LoadResult, 'cpu' | 'workCpu' | 'utilization'> {
  const { requests, elapsed, p50, p90, p99, connect, read, write, timeout, status: unexpectedStatus } = summary
  return {
    responses: requests - unexpectedStatus,
    before: { responses: 0, failures: 0 },
    elapsed: elapsed / 1000,
    latency: { p50: p50 / 1000, p90: p90 / 1000, p99: p99 / 1000 },
    failures: { errors: connect + read + write, timeouts: timeout, hanging: 0, unexpectedStatus },
  }
}

async function run(args: readonly string[]): Promise<{ output: string; cpu: number; utilization: number }> {
  const child = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  running = child
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const first = await readTree(child.pid ?? 0)
  let last = first
  while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL))
    const reading = await readTree(child.pid ?? 0)
    if (reading.threads.size > 1) last = reading
  }
  const code = await ended
  if (code !== 0) throw new Error(`it ended with ${child.signalCode ?? `code ${code}`}.${quoteOutput(output)}`)
  const { cpu, busiest } = useBetween(first, last)
  return { output, cpu, utilization: Math.min(1, busiest / (last.at - first.at)) }
}

/** A Lua script that makes the requests, and prints the results as JSON. */
function scriptOf(
  { method, path, headers, body }: Pick<Workload, 'method' | 'path' | 'headers' | 'body'>,
  pipelining: number,
): string {
  const text = (value: string): string =>
    `"${[...Buffer.from(value)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`
  const fields = Object.entries(headers).map(([name, value]) => `[${text(name)}] = ${text(value)}`)
  return `
wrk.method = ${text(method)}
wrk.body = ${body === undefined ? 'nil' : text(body)}
wrk.headers = { ${fields.join(', ')} }
local batch
init = function(args)
  batch = string.rep(wrk.format(nil, ${text(path)}), ${pipelining})
end
request = function() return batch end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('\\nspeed-bounds {"requests":%d,"elapsed":%d,"p50":%.3f,"p90":%.3f,"p99":%.3f,"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(90), latency:percentile(99),
    e.connect, e.read, e.write, e.status, e.timeout))
end
`
}

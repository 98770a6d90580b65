import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Volley, VolleyResult } from './generator.ts'
import { readTree, useBetween } from '../subject/process-tree.ts'

/** How often wrk's CPU is read while it runs, in milliseconds: once it has ended there is nothing to read. */
const POLL = 50

let running: ChildProcess | undefined

/** wrk's own child process must not outlive this one. */
export function endWrk(): void {
  running?.kill('SIGKILL')
}

export async function generate({ origin, method, path, headers, body, status, load }: Volley): Promise<VolleyResult> {
  // wrk tells only how many answers were not 2xx or 3xx: it would take a 503 for the 404 that is right.
  if (status >= 400) throw new Error(`it cannot tell a right ${status} from a failure; use autocannon`)
  const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-'))
  try {
    const script = join(folder, 'volley.lua')
    writeFileSync(script, lua(method, path, headers, body, load.pipelining))
    const seconds = Math.max(1, Math.ceil(load.duration / 1000))
    const args = [
      '-t',
      '1',
      '-c',
      `${load.connections}`,
      '-d',
      `${seconds}s`,
      '--timeout',
      `${Math.ceil(load.requestTimeout / 1000)}s`,
    ]
    const { output, cpu, utilisation } = await run([...args, '-s', script, origin + path])
    const line = /^speed-bounds (.*)$/m.exec(output)?.[1]
    if (!line) throw new Error(`wrk printed no summary:\n${output}`)
    const {
      requests,
      elapsed,
      p50,
      p90,
      p99,
      connect,
      read,
      write,
      timeout,
      status: non2xx,
    } = JSON.parse(line) as Record<string, number>
    const unexpectedStatus = non2xx!
    return {
      answers: requests! - unexpectedStatus,
      before: { answers: 0, failures: 0 },
      elapsed: elapsed! / 1000,
      latency: { p50: p50! / 1000, p90: p90! / 1000, p99: p99! / 1000 },
      failures: { errors: connect! + read! + write!, timeouts: timeout!, hanging: 0, unexpectedStatus },
      utilisation,
      cpu,
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function run(args: readonly string[]): Promise<{ output: string; cpu: number; utilisation: number }> {
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
    await new Promise((resolve) => setTimeout(resolve, POLL))
    const reading = await readTree(child.pid ?? 0)
    if (reading.threads.size > 1) last = reading
  }
  const code = await ended
  if (code !== 0) throw new Error(`wrk ended with code ${code}:\n${output}`)
  const { cpu, busiest } = useBetween(first, last)
  return { output, cpu, utilisation: Math.min(1, busiest / (last.at - first.at)) }
}

/** wrk is told what to send, and asked for its figures in a form that can be read, by a Lua script. */
function lua(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
  pipelining: number,
): string {
  const text = (value: string): string =>
    `"${[...Buffer.from(value)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`
  const fields = Object.entries(headers).map(([name, value]) => `[${text(name)}] = ${text(value)}`)
  return `
wrk.method = ${text(method)}
wrk.body = ${body === undefined ? 'nil' : text(body)}
wrk.headers = { ${fields.join(', ')} }
local volley
init = function(args)
  volley = string.rep(wrk.format(nil, ${text(path)}), ${pipelining})
end
request = function() return volley end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('\\nspeed-bounds {"requests":%d,"elapsed":%d,"p50":%.3f,"p90":%.3f,"p99":%.3f,"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(90), latency:percentile(99),
    e.connect, e.read, e.write, e.status, e.timeout))
end
`
}

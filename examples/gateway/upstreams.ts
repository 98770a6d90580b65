// The upstreams of the gateways, in one process. They do little work, because the gateways are measured.

import { json, parts, resources } from './content.ts'
import { type Answer, createSmallServer } from './small-http.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

/** Delay in milliseconds of one in a hundred calls below `/late`. */
const LATE = 200

/** Calls so far. */
const calls = { part: 0, late: 0, users: 0, orders: 0, invoices: 0, recommendations: 0 }

const answers = new Map([...parts].map(([path, body]) => [path, { status: 200, body }]))
const notFound = { status: 404, body: json({ error: 'Not Found' }) }

// With `node:http` a call took 14 µs of CPU: 0.65 of a core beside the fastest gateways.
const { server, close } = createSmallServer((path) => {
  const answer = answers.get(path)
  if (answer) {
    calls.part++
    return answer
  }
  if (path.startsWith('/late/')) return lateAnswer(path.slice('/late'.length))
  if (path === '/usage') {
    const { user, system } = process.cpuUsage()
    return { status: 200, body: json({ calls, cpu: user + system }) }
  }
  return resource(path)
})

function lateAnswer(path: string): Answer {
  const answer = answers.get(path)
  if (!answer) return notFound
  calls.late++
  return isLate(calls.late) ? { ...answer, delay: LATE } : answer
}

/** Random distances: a fixed distance of 100 would always delay the same of the five calls. */
function isLate(count: number): boolean {
  return Math.imul(count, 0x9e3779b1) >>> 0 < 2 ** 32 / 100
}

function resource(path: string): Answer {
  const [, name, key] = /^\/(users|orders|invoices|recommendations)(?:\/|\?user=)([\w-]+)$/.exec(path) ?? []
  if (name === undefined || key === undefined) return notFound
  calls[name as keyof typeof resources]++
  // Every second call fails, and is retried.
  if (name === 'recommendations' && calls.recommendations % 2 === 1)
    return { status: 503, body: json({ error: 'Busy' }) }
  return { status: 200, body: json(resources[name as keyof typeof resources](key)) }
}

process.once('SIGINT', close)
process.once('SIGTERM', close)

server.listen(port, host, () => console.log('Listening on', server.address()))

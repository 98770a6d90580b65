// The servers behind the gateways, in one process. It does little for an answer: the gateways are what is measured.

import { createServer, type ServerResponse } from 'node:http'
import { closeOnSignal } from './close-on-signal.ts'
import { json, parts, resources } from './content.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

/** Of the calls below `/late`, one in a hundred is answered so many milliseconds late. */
const LATE = 200

/** Calls so far. */
const calls = { part: 0, late: 0, users: 0, orders: 0, invoices: 0, recommendations: 0 }

const server = createServer((request, response) => {
  const path = request.url!
  const part = parts.get(path)
  if (part) {
    calls.part++
    send(response, part)
  } else if (path.startsWith('/late/')) {
    answerLate(response, path.slice('/late'.length))
  } else if (path === '/usage') {
    const { user, system } = process.cpuUsage()
    send(response, json({ calls, cpu: user + system }))
  } else {
    answerResource(response, path)
  }
})

function answerLate(response: ServerResponse, path: string): void {
  const part = parts.get(path)
  if (!part) return notFound(response)
  calls.late++
  if (isLate(calls.late)) setTimeout(send, LATE, response, part)
  else send(response, part)
}

/** At distances that change: with each hundredth it would always be the same of the five calls of an answer. */
function isLate(count: number): boolean {
  return Math.imul(count, 0x9e3779b1) >>> 0 < 2 ** 32 / 100
}

function answerResource(response: ServerResponse, path: string): void {
  const [, name, key] = /^\/(users|orders|invoices|recommendations)(?:\/|\?user=)([\w-]+)$/.exec(path) ?? []
  if (name === undefined || key === undefined) return notFound(response)
  calls[name as keyof typeof resources]++
  // Every second one fails: something to retry.
  if (name === 'recommendations' && calls.recommendations % 2 === 1) return send(response, json({ error: 'Busy' }), 503)
  send(response, json(resources[name as keyof typeof resources](key)))
}

function notFound(response: ServerResponse): void {
  send(response, json({ error: 'Not Found' }), 404)
}

function send(response: ServerResponse, body: Buffer, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
}

closeOnSignal(server, () => server.close())

server.listen(port, host, () => console.log('Listening on', server.address()))

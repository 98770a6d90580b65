// A plain server that works for SPIN microseconds before each response. The work is the same on a busy machine, where a
// clock would count the time that other programs take.

import { createServer } from 'node:http'

/** Iterations that take some 20 µs. */
const SAMPLE = 20_000
const SAMPLES = 500

let sink = 0

function work(iterations: number): void {
  for (let index = 0; index < iterations; index++) sink = (sink * 31 + index) | 0
}

/** Iterations in a microsecond, of the fastest sample: nothing interrupted it. */
function measureSpeed(): number {
  let least = Number.POSITIVE_INFINITY
  for (let sample = 0; sample < SAMPLES; sample++) {
    const before = performance.now()
    work(SAMPLE)
    least = Math.min(least, performance.now() - before)
  }
  return SAMPLE / (least * 1000)
}

const iterations = Math.round(Number(process.env['SPIN']) * measureSpeed())

const server = createServer((_request, response) => {
  work(iterations)
  response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.end('hello')
})
server.listen(Number(process.env['PORT']), process.env['HOST'])
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})

import { createServer, type Server } from 'node:http'
import { Counter, Gauge } from 'prom-client'

const answers = new Counter({ name: 'answers_total', help: 'Answers.' })
const up = new Gauge({ name: 'up_now', help: 'Processes.' })

/** Counts its answers, and stands still for as many milliseconds as it is asked to. */
export default function measured(): Server {
  up.set(1)
  return createServer((request, response) => {
    const until = performance.now() + Number(request.url!.slice(1))
    while (performance.now() < until);
    answers.inc()
    response.end(String(process.pid))
  })
}

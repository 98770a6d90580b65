import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Metric } from '../src/ipc/messages.ts'
import { aggregate, findRegistry } from '../src/observability/prom-client.ts'

// Decides whether metrics of workers are merged for each scrape, or passed through with a label for each worker.

const WORKERS = 16

/** Metrics of an app with 20 routes. */
async function metricsOf(worker: number): Promise<{ json: readonly Metric[]; text: string }> {
  const registry = new Registry()
  const registers = [registry]
  const labelNames = ['route', 'status']
  const requests = new Counter({ name: 'http_requests_total', help: 'Requests.', labelNames, registers })
  const duration = new Histogram({ name: 'http_request_seconds', help: 'Durations.', labelNames, registers })
  for (let route = 0; route < 20; route++) {
    const labels = { route: `/route-${route}`, status: '200' }
    requests.inc(labels, worker * 1000 + route)
    duration.observe(labels, (route + 1) / 100)
  }
  new Gauge({ name: 'queue_length', help: 'Jobs.', registers }).set(worker)
  return { json: await findRegistry(registry)!.registry.getMetricsAsJSON(), text: await registry.metrics() }
}

const workers = await Promise.all(Array.from({ length: WORKERS }, (_, worker) => metricsOf(worker)))

export default {
  'merged to one': async () => {
    const registry = await aggregate(
      workers.map(({ json }) => json),
      undefined,
    )
    return registry.metrics()
  },
  'passed through with a label for the worker': () =>
    workers.map(({ text }, worker) => text.replaceAll(/^(\w+)\{/gm, `$1{worker="${worker}",`)).join(''),
}

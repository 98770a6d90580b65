import { prometheusObserver as gatewayObserver } from 'aggregator-gateway/prometheus'
import { prometheusObserver as nextObserver } from 'next-on-fastify/prometheus'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { TrpcObserver } from 'trpc-fastify'

/** The primary adds up those of all workers, see the port for metrics. */
export const registry: Registry = new Registry()
collectDefaultMetrics({ register: registry })

const calls = new Histogram({
  name: 'trpc_call_duration_seconds',
  help: 'Duration of calls of procedures.',
  labelNames: ['path', 'outcome'],
  registers: [registry],
})

export const nextMetrics = nextObserver({ registry })
export const gatewayMetrics = gatewayObserver({ registry })
export const trpcMetrics: TrpcObserver = {
  callEnded: ({ path, duration, error }) => calls.observe({ path, outcome: error?.code ?? 'OK' }, duration / 1000),
}

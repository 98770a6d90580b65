// Metrics of calls and upstreams, by prom-client. Labels are names from the options, and reasons: clients cannot create
// time series.

import { Counter, Gauge, Histogram, register, type Registry } from 'prom-client'
import { InvalidOptionError } from '../errors.ts'
import type { GatewayObserver, ObservedCall, ObservedGateway, OriginStatus } from '../options/observer.ts'

/** Options of {@link prometheusObserver}. */
export interface PrometheusObserverOptions {
  /** Where the metrics are registered. @default prom-client's `register` */
  registry?: Registry
  /** The upper bounds of the buckets of durations, in seconds. @default 0.001 to 5, about doubling */
  buckets?: readonly number[]
}

/** From an upstream on the same machine to beyond the usual deadline. */
const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5] as const

const CALL_LABELS = ['method', 'route', 'call', 'upstream'] as const
const ORIGIN_LABELS = ['upstream', 'origin'] as const

/**
 * Counts and times the calls of gateways for Prometheus. One observer serves all gateways of a process: a registry
 * takes each metric once.
 *
 * @throws GATEWAY_INVALID_OPTION
 *
 * @example
 * const registry = new Registry()
 * await app.register(gatewayPlugin, { upstreams, endpoints, observers: [prometheusObserver({ registry })] })
 * app.get('/metrics', async (request, reply) => reply.type(registry.contentType).send(await registry.metrics()))
 */
export function prometheusObserver(options: PrometheusObserverOptions = {}): GatewayObserver<void> {
  const { registry = register, buckets = BUCKETS } = options
  checkOptions(options, buckets)
  const { durations, failures, retries, hedges } = callMetrics(registry, buckets)
  const gateways = new Set<ObservedGateway>()
  addOriginGauges(registry, gateways)
  const labelsOf = labelCache()
  return {
    gatewayOpened: (gateway) => void gateways.add(gateway),
    gatewayClosed: (gateway) => void gateways.delete(gateway),
    callEnded(call, { duration, attempts, hedged, reason }) {
      const labels = labelsOf(call)
      durations.observe(labels, duration / 1000)
      if (reason !== undefined) failures.inc({ ...labels, reason })
      const retried = attempts - 1 - Number(hedged)
      if (retried > 0) retries.inc(labels, retried)
      if (hedged) hedges.inc(labels)
    },
  }
}

type CallLabels = Readonly<Record<(typeof CALL_LABELS)[number], string>>

interface CallMetrics {
  readonly durations: Histogram<(typeof CALL_LABELS)[number]>
  readonly failures: Counter<(typeof CALL_LABELS)[number] | 'reason'>
  readonly retries: Counter<(typeof CALL_LABELS)[number]>
  readonly hedges: Counter<(typeof CALL_LABELS)[number]>
}

function callMetrics(registry: Registry, buckets: readonly number[]): CallMetrics {
  const registers = [registry]
  return {
    durations: new Histogram({
      name: 'gateway_call_duration_seconds',
      help: 'How long calls to upstreams took, all attempts together',
      labelNames: CALL_LABELS,
      buckets: [...buckets],
      registers,
    }),
    failures: new Counter({
      name: 'gateway_call_failures_total',
      help: 'Calls to upstreams without an answer',
      labelNames: [...CALL_LABELS, 'reason'],
      registers,
    }),
    retries: new Counter({
      name: 'gateway_call_retries_total',
      help: 'Attempts of calls after one that failed',
      labelNames: CALL_LABELS,
      registers,
    }),
    hedges: new Counter({
      name: 'gateway_call_hedges_total',
      help: 'Calls that were made a second time as they were late',
      labelNames: CALL_LABELS,
      registers,
    }),
  }
}

const ORIGIN_GAUGES: readonly (readonly [name: string, help: string, valueOf: (origin: OriginStatus) => number])[] = [
  [
    'gateway_origin_circuit_open',
    'Circuits that are open: 1 when calls to the origin are stopped',
    ({ circuit }) => (circuit === 'open' ? 1 : 0),
  ],
  ['gateway_origin_pending_calls', 'Calls to the origin that are not over', ({ pending }) => pending],
  ['gateway_origin_connections', 'Connections to the origin that are open', ({ connected }) => connected],
]

function addOriginGauges(registry: Registry, gateways: ReadonlySet<ObservedGateway>): void {
  for (const [name, help, valueOf] of ORIGIN_GAUGES) {
    const gauge = new Gauge({
      name,
      help,
      labelNames: ORIGIN_LABELS,
      registers: [],
      collect() {
        this.reset()
        for (const { status } of gateways) {
          for (const [upstream, origins] of Object.entries(status().upstreams)) {
            for (const origin of origins) this.inc({ upstream, origin: origin.origin }, valueOf(origin))
          }
        }
      },
    })
    registry.registerMetric(gauge)
  }
}

/** Makes the labels of each call once. There are as many calls as in the options. */
function labelCache(): (call: ObservedCall) => CallLabels {
  const cached = new Map<ObservedCall, CallLabels>()
  return (call) => {
    let labels = cached.get(call)
    if (!labels) {
      const { endpoint, name, upstream } = call
      labels = { method: endpoint.method, route: endpoint.path, call: name, upstream }
      cached.set(call, labels)
    }
    return labels
  }
}

function checkOptions(options: PrometheusObserverOptions, buckets: readonly number[]): void {
  const unknown = Object.keys(options).find((name) => name !== 'registry' && name !== 'buckets')
  if (unknown !== undefined) {
    throw new InvalidOptionError(
      `Expected \`prometheusObserver\` to have some of registry, buckets, got \`${unknown}\``,
    )
  }
  const { registry } = options
  if (registry !== undefined && typeof registry.registerMetric !== 'function') {
    throw new InvalidOptionError('Expected `registry` to be a registry of prom-client, got something else')
  }
  const rises =
    Array.isArray(buckets) &&
    buckets.length > 0 &&
    buckets.every((bound, index) => Number.isFinite(bound) && bound > (buckets[index - 1] ?? 0))
  if (!rises) {
    throw new InvalidOptionError(`Expected \`buckets\` to be rising numbers of seconds, got ${JSON.stringify(buckets)}`)
  }
}

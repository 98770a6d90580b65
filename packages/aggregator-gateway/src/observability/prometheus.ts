// Metrics of calls and upstreams, by prom-client. Labels are names that the options have, and reasons: clients cannot
// make new series.

import { Counter, Gauge, Histogram, register, type Registry } from 'prom-client'
import { InvalidOptionError } from '../errors.ts'
import type { GatewayObserver, ObservedCall, ObservedGateway } from './observers.ts'
import type { OriginStatus } from '../upstream/upstream.ts'

/** Options of {@link prometheusObserver}. */
export interface PrometheusObserverOptions {
  /** Where the metrics are registered. @default prom-client's `register` */
  registry?: Registry
  /** The upper bounds of the buckets of durations, in seconds. @default 0.001 to 5, about doubling */
  buckets?: readonly number[]
}

/** From an upstream on the same machine to the usual deadline and beyond. */
const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5] as const

type CallLabels = Readonly<Record<'method' | 'route' | 'call' | 'upstream', string>>
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
  const registers = [registry]
  const durations = new Histogram({
    name: 'gateway_call_duration_seconds',
    help: 'How long calls to upstreams took, all attempts together',
    labelNames: CALL_LABELS,
    buckets: [...buckets],
    registers,
  })
  const failures = new Counter({
    name: 'gateway_call_failures_total',
    help: 'Calls to upstreams without an answer',
    labelNames: [...CALL_LABELS, 'reason'],
    registers,
  })
  const retries = new Counter({
    name: 'gateway_call_retries_total',
    help: 'Attempts of calls after one that failed',
    labelNames: CALL_LABELS,
    registers,
  })
  const hedges = new Counter({
    name: 'gateway_call_hedges_total',
    help: 'Calls that were made a second time as they were late',
    labelNames: CALL_LABELS,
    registers,
  })
  const gateways = new Set<ObservedGateway>()
  const gauge = (
    name: string,
    help: string,
    valueOf: (origin: OriginStatus) => number,
  ): Gauge<(typeof ORIGIN_LABELS)[number]> =>
    new Gauge({
      name,
      help,
      labelNames: ORIGIN_LABELS,
      registers,
      collect() {
        this.reset()
        for (const { status } of gateways) {
          for (const [upstream, origins] of Object.entries(status().upstreams)) {
            for (const origin of origins) this.inc({ upstream, origin: origin.origin }, valueOf(origin))
          }
        }
      },
    })
  gauge(
    'gateway_origin_circuit_open',
    'Circuits that are open: 1 when calls to the origin are stopped',
    ({ circuit }) => (circuit === 'open' ? 1 : 0),
  )
  gauge('gateway_origin_pending_calls', 'Calls to the origin that are not over', ({ pending }) => pending)
  gauge('gateway_origin_connections', 'Connections to the origin that are open', ({ connected }) => connected)

  /** As many as there are calls in the options. */
  const labels = new Map<ObservedCall, CallLabels>()
  const labelsOf = (call: ObservedCall): CallLabels => {
    let known = labels.get(call)
    if (!known) {
      const { endpoint, name, upstream } = call
      known = { method: endpoint.method, route: endpoint.path, call: name, upstream }
      labels.set(call, known)
    }
    return known
  }
  return {
    gatewayOpened: (gateway) => void gateways.add(gateway),
    gatewayClosed: (gateway) => void gateways.delete(gateway),
    callEnded(call, { duration, attempts, hedged, reason }) {
      const its = labelsOf(call)
      durations.observe(its, duration / 1000)
      if (reason !== undefined) failures.inc({ ...its, reason })
      const again = attempts - 1 - Number(hedged)
      if (again > 0) retries.inc(its, again)
      if (hedged) hedges.inc(its)
    },
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

// Metrics of calls and upstreams, by prom-client. Labels are names from the options, and reasons: clients cannot create
// time series.

import { isDeepStrictEqual } from 'node:util'
import { checkOptions } from 'checked-options'
import { Counter, Gauge, Histogram, register, type Registry } from 'prom-client'
import { InvalidOptionError } from '../errors.ts'
import { invalidOptionError } from '../options/invalid-option.ts'
import type { GatewayObserver, ObservedCall, ObservedGateway, OriginStatus } from '../options/observer.ts'
import { type PrometheusObserverOptions, prometheusSchema } from './prometheus-options.ts'

export type { PrometheusObserverOptions }

const CALL_LABELS = ['method', 'route', 'call', 'upstream'] as const
const ORIGIN_LABELS = ['upstream', 'origin'] as const

/** The observer of each registry, which takes each metric once. A reload of the command's module asks for it again. */
const observers = new WeakMap<Registry, RegistryObserver>()

interface RegistryObserver {
  readonly observer: GatewayObserver<void>
  readonly buckets: readonly number[]
  readonly isRegistered: () => boolean
}

/**
 * Counts and times the calls of gateways for Prometheus. One observer serves all gateways of a process: for the same
 * registry, the same one is returned.
 *
 * @throws AGGREGATOR_GATEWAY_INVALID_OPTION
 *
 * @example
 * const registry = new Registry()
 * await app.register(gatewayPlugin, { upstreams, endpoints, observers: [prometheusObserver({ registry })] })
 * app.get('/metrics', async (request, reply) => reply.type(registry.contentType).send(await registry.metrics()))
 */
export function prometheusObserver(options: PrometheusObserverOptions = {}): GatewayObserver<void> {
  const { registry = register, buckets } = checkOptions(prometheusSchema, options, (message) => {
    return new InvalidOptionError(message)
  })
  const known = observers.get(registry)
  if (!known?.isRegistered()) return observerOf(registry, buckets)
  if (!isDeepStrictEqual(known.buckets, buckets)) {
    throw invalidOptionError('buckets', `those of the registry's observer, ${known.buckets.join(', ')}`, buckets)
  }
  return known.observer
}

function observerOf(registry: Registry, buckets: readonly number[]): GatewayObserver<void> {
  const { durations, failures, retries, hedges } = callMetrics(registry, buckets)
  const gateways = new Set<ObservedGateway>()
  addOriginGauges(registry, gateways)
  const labelsOf = labelCache()
  const observer: GatewayObserver<void> = {
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
  const isRegistered = (): boolean => registry.getSingleMetric('gateway_call_duration_seconds') === durations
  observers.set(registry, { observer, buckets, isRegistered })
  return observer
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
      help: 'Duration of calls to upstreams, all attempts together',
      labelNames: CALL_LABELS,
      buckets: [...buckets],
      registers,
    }),
    failures: new Counter({
      name: 'gateway_call_failures_total',
      help: 'Failed calls to upstreams',
      labelNames: [...CALL_LABELS, 'reason'],
      registers,
    }),
    retries: new Counter({
      name: 'gateway_call_retries_total',
      help: 'Retries of calls',
      labelNames: CALL_LABELS,
      registers,
    }),
    hedges: new Counter({
      name: 'gateway_call_hedges_total',
      help: 'Hedged requests',
      labelNames: CALL_LABELS,
      registers,
    }),
  }
}

type OriginGauge = readonly [name: string, help: string, valueOf: (origin: OriginStatus) => number, isState?: boolean]

const ORIGIN_GAUGES: readonly OriginGauge[] = [
  [
    'gateway_origin_circuit_open',
    'Whether the circuit of the origin is open: 1 or 0',
    ({ circuit }) => (circuit === 'open' ? 1 : 0),
    true,
  ],
  ['gateway_origin_pending_calls', 'Running and queued calls to the origin', ({ pending }) => pending],
  ['gateway_origin_connections', 'Open connections to the origin', ({ connected }) => connected],
]

function addOriginGauges(registry: Registry, gateways: ReadonlySet<ObservedGateway>): void {
  for (const [name, help, valueOf, isState] of ORIGIN_GAUGES) {
    const gauge = new Gauge({
      name,
      help,
      labelNames: ORIGIN_LABELS,
      registers: [],
      collect() {
        this.reset()
        for (const { status } of gateways) {
          for (const [upstream, origins] of Object.entries(status().upstreams)) {
            for (const origin of origins) {
              const labels = { upstream, origin: origin.origin }
              // Gateways with the same origin share a time series: one open circuit is enough, numbers add up.
              if (isState && valueOf(origin) > 0) this.set(labels, 1)
              else this.inc(labels, valueOf(origin))
            }
          }
        }
      },
    })
    registry.registerMetric(gauge)
  }
}

/** Makes the labels of each call once. Those of a gateway that was reloaded are dropped. */
function labelCache(): (call: ObservedCall) => CallLabels {
  const cached = new WeakMap<ObservedCall, CallLabels>()
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

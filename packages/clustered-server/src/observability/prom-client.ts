// What is known of prom-client here: it is neither needed nor loaded, but for the metrics of an app that has loaded it.

import { createRequire } from 'node:module'

/** A metric as a registry has it as JSON. */
export interface Metric {
  readonly name: string
  readonly type: string
  readonly values: readonly unknown[]
}

/** A registry, as far as it matters here. */
export interface Registry {
  getMetricsAsJSON: () => Promise<Metric[]>
  metrics: () => Promise<string>
}

interface PromClient {
  readonly register: Registry
  readonly AggregatorRegistry: { aggregate: (all: readonly (readonly Metric[])[]) => Registry }
}

/** An app's own registry, by which prom-client that it was made. */
export interface FoundRegistry {
  readonly registry: Registry
  /** The file of that prom-client, if one is known. */
  readonly file: string | undefined
}

const require: NodeJS.Require = createRequire(import.meta.url)

/** The registry that the module of an app exports as `metrics`, else the one that prom-client has, if it is in use. */
export function findRegistry(exported: unknown): FoundRegistry | undefined {
  const file = Object.keys(require.cache).find((path) => /[\\/]prom-client[\\/]index\.js$/.test(path))
  if (isRegistry(exported)) return { registry: exported, file }
  return file === undefined ? undefined : { registry: (require(file) as PromClient).register, file }
}

/** The sum of what several processes have measured. */
export async function aggregate(all: readonly (readonly Metric[])[], file: string | undefined): Promise<Registry> {
  const client = (file === undefined ? await import('prom-client') : require(file)) as PromClient
  return client.AggregatorRegistry.aggregate(all)
}

function isRegistry(value: unknown): value is Registry {
  return typeof value === 'object' && value !== null && 'getMetricsAsJSON' in value
}

// prom-client is optional: it is used only for the metrics of an app that has loaded it.

import { createRequire } from 'node:module'
import type { Metric } from '../ipc/messages.ts'

/** The used part of a registry. */
export interface Registry {
  getMetricsAsJSON: () => Promise<Metric[]>
  metrics: () => Promise<string>
}

interface PromClient {
  readonly register: Registry
  readonly AggregatorRegistry: { aggregate: (all: readonly (readonly Metric[])[]) => Registry }
}

/** An app's registry and its prom-client. */
export interface FoundRegistry {
  readonly registry: Registry
  /** File of that prom-client, if known. */
  readonly file: string | undefined
}

const require: NodeJS.Require = createRequire(import.meta.url)

/** Returns the registry that the app's module exports as `metrics`, or the default registry of a loaded prom-client. */
export function findRegistry(exported: unknown): FoundRegistry | undefined {
  const file = Object.keys(require.cache).find((path) => /[\\/]prom-client[\\/]index\.js$/.test(path))
  if (isRegistry(exported)) return { registry: exported, file }
  return file === undefined ? undefined : { registry: (require(file) as PromClient).register, file }
}

/** Aggregates the metrics of several processes. */
export async function aggregate(all: readonly (readonly Metric[])[], file: string | undefined): Promise<Registry> {
  const client = (file === undefined ? await import('prom-client') : require(file)) as PromClient
  return client.AggregatorRegistry.aggregate(all)
}

function isRegistry(value: unknown): value is Registry {
  return typeof value === 'object' && value !== null && 'getMetricsAsJSON' in value
}

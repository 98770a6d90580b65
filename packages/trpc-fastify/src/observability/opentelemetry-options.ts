// Options of the OpenTelemetry observer. Only types of the API are imported.

import type { Tracer } from '@opentelemetry/api'
import { custom, object, optional, type OptionsSchema } from 'checked-options'

/** Options of {@link openTelemetryObserver}. */
export interface OpenTelemetryObserverOptions {
  /** Tracer that starts the spans. @default the global provider's tracer `trpc-fastify` */
  tracer?: Tracer
}

export const openTelemetrySchema: OptionsSchema<OpenTelemetryObserverOptions> = object({
  tracer: optional(
    custom<Tracer>('a tracer of OpenTelemetry', (value) => {
      return typeof (value as Partial<Tracer> | null)?.startSpan === 'function'
    }),
  ),
})

import type { CaseOptions, Subject } from 'speed-bounds'
import { startSubject } from '../running-subjects.ts'

const folder = new URL('../../examples/gateway/', import.meta.url)

/** They call the origin in `UPSTREAM`, see {@link startUpstreams}. */
export const subjects: Record<
  | 'nestjs-express-axios'
  | 'nestjs-fastify-axios'
  | 'nestjs-fastify-undici'
  | 'express-axios'
  | 'fastify-axios'
  | 'fastify-fetch'
  | 'fastify-got'
  | 'fastify-undici'
  | 'aggregator-gateway'
  | 'aggregator-gateway-bare'
  | 'aggregator-gateway-coalesced',
  Subject
> = {
  'nestjs-express-axios': new URL('nestjs-express-axios.ts', folder),
  'nestjs-fastify-axios': new URL('nestjs-fastify-axios.ts', folder),
  'nestjs-fastify-undici': new URL('nestjs-fastify-undici.ts', folder),
  'express-axios': new URL('express-axios.ts', folder),
  'fastify-axios': new URL('fastify-axios.ts', folder),
  'fastify-fetch': new URL('fastify-fetch.ts', folder),
  'fastify-got': new URL('fastify-got.ts', folder),
  'fastify-undici': new URL('fastify-undici.ts', folder),
  'aggregator-gateway': new URL('aggregator-gateway.ts', folder),
  'aggregator-gateway-bare': new URL('aggregator-gateway-bare.ts', folder),
  'aggregator-gateway-coalesced': new URL('aggregator-gateway-coalesced.ts', folder),
}

/** Hand-runnable examples that no race has. */
export const dashboard: URL = new URL('dashboard.ts', folder)
export const tail: URL = new URL('aggregator-gateway-tail.ts', folder)
export const upstreams: URL = new URL('upstreams.ts', folder)

/** Five calls with responses of this many bytes each. */
export const cases: Record<'small' | 'medium' | 'large', CaseOptions> = {
  small: { path: '/api/150' },
  medium: { path: '/api/2000' },
  large: { path: '/api/20000' },
}

/** Work of the upstreams since their start. */
export interface UpstreamUsage {
  /** Calls by kind. */
  calls: Record<'part' | 'late', number>
  /** Microseconds. */
  cpu: number
}

/**
 * Starts the servers behind the gateways in a process that belongs to no subject. Later subjects find it by `UPSTREAM`.
 */
export async function startUpstreams(): Promise<{ origin: string; usage: () => Promise<UpstreamUsage> }> {
  const { origin } = await startSubject(upstreams)
  process.env['UPSTREAM'] = origin
  return { origin, usage: async () => (await (await fetch(`${origin}/usage`)).json()) as UpstreamUsage }
}

import type { SpeedBoundsConfig } from '../options/config-types.ts'

/**
 * Gives the content of `speed-bounds.config.ts` its type.
 *
 * @example
 * export default defineConfig({
 *   subjects: { fastify: './fastify.ts', express: './express.ts' },
 *   path: '/',
 *   claims: [{ over: 'express', atLeast: 1.2 }],
 * })
 */
export function defineConfig(config: SpeedBoundsConfig): SpeedBoundsConfig {
  return config
}

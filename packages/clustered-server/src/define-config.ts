import type { ClusteredServerConfig } from './options/types.ts'

/**
 * Gives the content of `clustered-server.config.ts` its type.
 *
 * @example
 * export default defineConfig({ app: './app.ts', workers: 2, port: 3000 })
 */
export function defineConfig(config: ClusteredServerConfig): ClusteredServerConfig {
  return config
}

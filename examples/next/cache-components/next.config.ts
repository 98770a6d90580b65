import type { NextConfig } from 'next'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** One source, built twice. */
const variant = process.env.NEXT_VARIANT ?? 'cacheComponents'

const config: NextConfig = {
  cacheComponents: true,
  // Shells that lack parameters are completed after they were first asked for.
  partialPrefetching: variant === 'partialPrefetching',
  distDir: `.next/${variant}`,
  generateBuildId: () => 'build-1',
  outputFileTracingRoot: root,
  turbopack: { root },
  // The workspace has a compiler without the interface that Next uses; `tsc` checks these files.
  typescript: { ignoreBuildErrors: true, tsconfigPath: '.next/tsconfig.json' },
  agentRules: false,
}

export default config

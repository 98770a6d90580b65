import { fileURLToPath } from 'node:url'
import type { NextConfig } from 'next'

const workspace = fileURLToPath(new URL('../../..', import.meta.url))

const config: NextConfig = {
  outputFileTracingRoot: workspace,
  turbopack: { root: workspace },
  // The workspace has a compiler without the interface that Next uses; `tsc` checks these files.
  typescript: { ignoreBuildErrors: true },
  agentRules: false,
  poweredByHeader: false,
}

export default config

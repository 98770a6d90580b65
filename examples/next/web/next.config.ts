import type { NextConfig } from 'next'
import { fileURLToPath } from 'node:url'

/** One source, built several times: each variant has a folder of its own under `.next`. */
const variant = process.env.NEXT_VARIANT ?? 'base'

const variants: Record<string, NextConfig> = {
  base: {},
  // Next looks for `proxy` with each of these extensions: the file is there for this variant alone.
  proxy: { pageExtensions: ['tsx', 'ts', 'guarded.ts'] },
  i18n: {
    pageExtensions: ['tsx', 'ts', 'guarded.ts'],
    i18n: { locales: ['en', 'de'], defaultLocale: 'en' },
  },
  basePath: { basePath: '/base' },
  trailingSlash: { trailingSlash: true },
  standalone: { output: 'standalone' },
}

/** Builds of the same source have the same ID. A new deployment sets its own. */
const build = process.env.NEXT_BUILD

const config: NextConfig = {
  distDir: build === undefined ? `.next/${variant}` : `.next/${build}-${variant}`,
  generateBuildId: () => build ?? 'build-1',
  outputFileTracingRoot: fileURLToPath(new URL('../../..', import.meta.url)),
  turbopack: { root: fileURLToPath(new URL('../../..', import.meta.url)) },
  // The workspace has a compiler without the interface that Next uses; `tsc` checks these files.
  typescript: { ignoreBuildErrors: true, tsconfigPath: '.next/tsconfig.json' },
  agentRules: false,
  rewrites: async () => ({
    beforeFiles: [
      { source: '/rewritten/before', destination: '/static' },
      { source: '/ruled', has: [{ type: 'query', key: 'as', value: 'isr' }], destination: '/isr' },
      { source: '/ruled', has: [{ type: 'header', key: 'x-other-page' }], destination: '/static' },
      { source: '/old/generated', has: [{ type: 'cookie', key: 'variant', value: 'b' }], destination: '/old/isr' },
    ],
    afterFiles: [
      { source: '/rewritten/posts/:slug', destination: '/posts/:slug' },
      { source: '/rewritten/message', missing: [{ type: 'header', key: 'x-no-rewrite' }], destination: '/api/message' },
    ],
    fallback: [{ source: '/rewritten/fallback/:path*', destination: '/old/ssr?from=:path*' }],
  }),
  redirects: async () => [
    { source: '/redirected/permanent', destination: '/static', permanent: true },
    { source: '/redirected/temporary/:slug', destination: '/posts/:slug', permanent: false },
    {
      source: '/old/generated',
      has: [{ type: 'query', key: 'go', value: '(?<to>\\w+)' }],
      destination: '/posts/:to',
      permanent: false,
    },
    {
      source: '/posts/second',
      has: [{ type: 'host', value: 'old.example.com' }],
      destination: 'https://new.example.com/posts/first',
      permanent: false,
    },
  ],
  headers: async () => [
    { source: '/posts/:slug', headers: [{ key: 'X-Post', value: ':slug' }] },
    {
      source: '/ruled',
      has: [{ type: 'header', key: 'x-want-header', value: '(?<wanted>\\w+)' }],
      headers: [{ key: 'X-Wanted', value: ':wanted' }],
    },
    {
      source: '/ruled',
      missing: [{ type: 'cookie', key: 'known' }],
      headers: [{ key: 'X-First-Visit', value: 'yes' }],
    },
    { source: '/small.txt', headers: [{ key: 'Cache-Control', value: 'public, max-age=60' }] },
  ],
  ...variants[variant],
}

export default config

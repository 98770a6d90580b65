// The configuration of a Next app, and the settings with which the response cache or the router bypass stays off.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import satisfies from 'semver/functions/satisfies.js'
import { functionOf } from './internals.ts'

/** The used settings of a configuration. */
export interface NextConfig {
  readonly distDir: string
  readonly assetPrefix?: string
  readonly basePath?: string
  readonly cacheComponents?: boolean
  readonly cacheHandler?: string
  readonly cacheHandlers?: Readonly<Record<string, unknown>>
  readonly cacheMaxMemorySize?: number
  readonly compress?: boolean
  readonly htmlLimitedBots?: string
  readonly i18n?: {
    readonly locales: readonly string[]
    readonly defaultLocale: string
    readonly domains?: readonly unknown[]
  } | null
  readonly images?: {
    readonly loader?: string
    readonly maximumDiskCacheSize?: number
    readonly path?: string
    readonly unoptimized?: boolean
  }
  readonly output?: string
  readonly skipTrailingSlashRedirect?: boolean
  readonly trailingSlash?: boolean
  readonly experimental?: Readonly<Record<string, unknown>>
}

type LoadConfig = (phase: string, dir: string, options: { silent: boolean }) => Promise<NextConfig>

/** Reads the configuration of an app by Next's own loader, which returns the cached one. */
export function readConfig(dir: string, isDev: boolean = false): Promise<NextConfig> {
  const fromApp = createRequire(join(dir, 'package.json'))
  const load = functionOf(fromApp('next/dist/server/config') as Record<string, unknown>, 'default') as LoadConfig
  return load(isDev ? 'phase-development-server' : 'phase-production-server', dir, { silent: true })
}

/** Whether the app in `dir` lets Next compress, which is the default. */
export async function letsNextCompress(dir: string): Promise<boolean> {
  try {
    return (await readConfig(dir)).compress !== false
  } catch {
    return true
  }
}

/** Whether an app may have `'use cache'`. Next sets `cacheComponents` to false by default. */
export function usesUseCache({ cacheComponents, experimental }: NextConfig): boolean {
  return cacheComponents === true || Boolean(experimental?.['useCache'])
}

type Feature = 'responseCache' | 'routerBypass'
type IsSet = (config: NextConfig, version: string) => unknown

const never: IsSet = () => false
const experimental =
  (name: string): IsSet =>
  ({ experimental: settings = {} }) =>
    settings[name]

/** Settings without proof that responses stay the same, for each feature. */
const UNPROVEN: readonly (Readonly<Record<Feature, IsSet>> & { readonly name: string })[] = [
  {
    name: 'assetPrefix',
    // Next sets it to the base path by default.
    responseCache: ({ assetPrefix, basePath }) => assetPrefix !== basePath && assetPrefix,
    routerBypass: never,
  },
  { name: 'basePath', responseCache: never, routerBypass: ({ basePath }) => basePath },
  { name: 'i18n', responseCache: never, routerBypass: ({ i18n }) => i18n },
  { name: 'i18n.domains', responseCache: ({ i18n }) => i18n?.domains, routerBypass: never },
  { name: 'trailingSlash', responseCache: never, routerBypass: ({ trailingSlash }) => trailingSlash },
  {
    name: 'skipTrailingSlashRedirect',
    responseCache: ({ skipTrailingSlashRedirect }) => skipTrailingSlashRedirect,
    routerBypass: ({ skipTrailingSlashRedirect }) => skipTrailingSlashRedirect,
  },
  {
    name: 'cacheComponents',
    responseCache: ({ cacheComponents }, version) =>
      cacheComponents && !satisfies(version, '>=16.4', { includePrerelease: true }),
    routerBypass: ({ cacheComponents }) => cacheComponents,
  },
  { name: 'cacheHandler', responseCache: ({ cacheHandler }) => cacheHandler, routerBypass: never },
  {
    name: 'cacheHandlers',
    responseCache: ({ cacheHandlers = {} }) => Object.values(cacheHandlers).some((handler) => handler !== undefined),
    routerBypass: never,
  },
  { name: 'output: export', responseCache: never, routerBypass: ({ output }) => output === 'export' },
  ...['ppr', 'dynamicIO', 'caseSensitiveRoutes'].map((name) => ({
    name: `experimental.${name}`,
    responseCache: experimental(name),
    routerBypass: experimental(name),
  })),
  {
    name: 'experimental.useCache',
    // It is a part of `cacheComponents`.
    responseCache: (config, version) => !config.cacheComponents && experimental('useCache')(config, version),
    routerBypass: experimental('useCache'),
  },
  {
    name: 'experimental.exposeTestingApiInProductionBuild',
    responseCache: experimental('exposeTestingApiInProductionBuild'),
    routerBypass: never,
  },
  ...['testProxy', 'trustHostHeader'].map((name) => ({
    name: `experimental.${name}`,
    responseCache: never,
    routerBypass: experimental(name),
  })),
]

/** The first setting with which a feature stays off, if there is one. */
export function unprovenSetting(config: NextConfig, version: string, feature: Feature): string | undefined {
  return UNPROVEN.find((setting) => Boolean(setting[feature](config, version)))?.name
}

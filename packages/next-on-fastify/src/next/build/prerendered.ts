// Pages that a build has rendered.

import { join } from 'node:path'
import { type Lifetime, pagePathOf } from '../page-cache/cache-handler-types.ts'
import type { AppPaths } from './path-reader.ts'

/** Path of the static files of a build. */
export const STATIC_FILES = '/_next/static/'

/** The used parts of `prerender-manifest.json`. */
export interface PrerenderManifest {
  readonly routes: Readonly<Record<string, PrerenderedRoute>>
}

interface PrerenderedRoute {
  readonly initialRevalidateSeconds: number | false
  readonly initialExpireSeconds?: number
  readonly renderingMode?: string
}

/** The rendered pages of a build. */
export interface Prerendered {
  /** Whether the build has rendered this path completely. */
  readonly isMade: (path: string) => boolean
  /** The lifetime of a page at build time. */
  readonly lifetimeOf: (cacheKey: string) => Lifetime | undefined
  /** The file of a page of the Pages Router without data. Each response is its content. */
  readonly staticPage: (path: string) => string | undefined
}

/** Reads the rendered pages from the manifests of a build. */
export function prerenderedPages(
  distDir: string,
  manifest: PrerenderManifest,
  pages: Readonly<Record<string, string>>,
  paths: AppPaths,
): Prerendered {
  const routes = new Map(Object.entries(manifest.routes))
  const staticPage = (path: string): string | undefined => {
    const page = paths.pageOf(path)
    const file = page !== undefined && Object.hasOwn(pages, page) ? pages[page] : undefined
    return file?.endsWith('.html') ? join(distDir, 'server', file) : undefined
  }
  return {
    staticPage,
    isMade: (path) => {
      const page = paths.pageOf(path)
      const route = page === undefined ? undefined : routes.get(page)
      if (route !== undefined) return route.renderingMode !== 'PARTIALLY_STATIC'
      return staticPage(path) !== undefined || (paths.fileOf(path)?.startsWith(STATIC_FILES) ?? false)
    },
    lifetimeOf: (cacheKey) => {
      const route = routes.get(pagePathOf(cacheKey))
      return route && { revalidate: route.initialRevalidateSeconds, expire: route.initialExpireSeconds }
    },
  }
}

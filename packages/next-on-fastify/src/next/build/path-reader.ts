// Reads a path as Next's router does: with or without base path, trailing slash and locale.

import type { NextConfig } from '../config.ts'

/** The settings that decide how paths are read. */
export type PathConfig = Pick<NextConfig, 'basePath' | 'i18n'>

/** The paths of one app. */
export interface AppPaths {
  /** The path of a file in the app. Undefined outside of the app. */
  readonly fileOf: (path: string) => string | undefined
  /** The name of a page of the Pages Router in the build. Undefined outside of the app. */
  readonly pageOf: (path: string) => string | undefined
  /** All paths that Next may compare with a rule or a middleware matcher for this request path. */
  readonly routedAs: (path: string) => readonly string[]
  /** Whether the language of a client may redirect it. */
  readonly isLocalized: (path: string) => boolean
}

const DATA = /^\/_next\/data\/[^/]+(\/.*)\.json$/

/** Reads paths as an app with this configuration does. */
export function appPaths({ basePath = '', i18n }: PathConfig): AppPaths {
  const { localeOf, inLocales } = localesOf(i18n)
  const isInside = (path: string): boolean =>
    basePath === '' || path === basePath || (path.startsWith(basePath) && path[basePath.length] === '/')

  /** The path within the app, without trailing slash. */
  const inside = (path: string): string | undefined => {
    if (!isInside(path)) return undefined
    const end = path.endsWith('/') ? path.length - 1 : path.length
    return path.slice(basePath.length, end) || '/'
  }

  return {
    fileOf: (path) => {
      const file = inside(path)
      // Files also exist below the default locale, and below no other one.
      if (file === undefined || !i18n || localeOf(file) !== i18n.defaultLocale) return file
      return file.slice(i18n.defaultLocale.length + 1)
    },
    pageOf: (path) => {
      const page = inside(path)
      if (page === undefined || !i18n) return page
      const locale = localeOf(page)
      const rest = locale === undefined ? page : page.slice(locale.length + 1)
      return `/${locale ?? i18n.defaultLocale}${rest === '/' ? '' : rest}`
    },
    routedAs: (path) => {
      const prefix = isInside(path) ? basePath : ''
      const rest = path.slice(prefix.length)
      if (!i18n && !rest.startsWith('/_next/data/')) return [path]
      const page = DATA.exec(rest)?.[1]
      if (page === undefined) return [path, ...inLocales(rest).map((one) => prefix + one)]
      return [
        path,
        ...dataPages(page)
          .flatMap(inLocales)
          .flatMap((one) => withSlash(prefix, one)),
      ]
    },
    // Next reads `/index` as the root here.
    isLocalized: (path) => Boolean(i18n) && /^\/(?:index(?:\/|$)|$)/.test(inside(path) ?? path),
  }
}

/** The page of `/_next/data`, to which middleware is applied. Next also reads `/index` as the root. */
function dataPages(page: string): string[] {
  return [page, page.replace(/^\/index(?=\/|$)/, '') || '/']
}

function withSlash(prefix: string, path: string): string[] {
  return path === '/' ? [prefix, `${prefix}/`] : [prefix + path, `${prefix}${path}/`]
}

interface Locales {
  readonly localeOf: (path: string) => string | undefined
  /** The path itself, and in the default locale. */
  readonly inLocales: (path: string) => readonly string[]
}

function localesOf(i18n: PathConfig['i18n']): Locales {
  if (!i18n) return { localeOf: () => undefined, inLocales: (path) => [path] }
  const { locales, defaultLocale } = i18n
  return {
    localeOf: (path) => {
      const first = path.split('/', 2)[1]?.toLowerCase()
      return locales.find((locale) => locale.toLowerCase() === first)
    },
    inLocales: (path) => [path, `/${defaultLocale}${path === '/' ? '' : path}`],
  }
}

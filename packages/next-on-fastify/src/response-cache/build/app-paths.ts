// How the router of Next reads a path: below the base path or not, with a slash at its end or without, with the name of a
// locale or without.

/** What of a configuration says how paths are read. */
export interface PathConfig {
  readonly basePath?: string
  readonly i18n?: {
    readonly locales: readonly string[]
    readonly defaultLocale: string
    readonly domains?: readonly unknown[]
  } | null
}

/** The paths of one app. */
export interface AppPaths {
  /** The path of a file in the app; nothing where the path is outside of it. */
  readonly fileOf: (path: string) => string | undefined
  /** The name of a page of the Pages Router, as the build has it; nothing where the path is outside of the app. */
  readonly pageOf: (path: string) => string | undefined
  /** All that Next may hold a rule of the configuration or a matcher of a proxy against when this path is asked for. */
  readonly routedAs: (path: string) => readonly string[]
  /** Whether the language of a client may decide where it is led. */
  readonly isLocalised: (path: string) => boolean
}

const DATA = /^\/_next\/data\/[^/]+(\/.*)\.json$/

/** Reads paths as an app of this configuration does. */
export function appPaths({ basePath = '', i18n }: PathConfig): AppPaths {
  const isInside = (path: string): boolean =>
    basePath === '' || path === basePath || (path.startsWith(basePath) && path[basePath.length] === '/')

  /** The path within the app, without a slash at its end. */
  const inside = (path: string): string | undefined => {
    if (!isInside(path)) return undefined
    const end = path.endsWith('/') ? path.length - 1 : path.length
    return path.slice(basePath.length, end) || '/'
  }

  const localeOf = (path: string): string | undefined => {
    const first = path.split('/', 2)[1]?.toLowerCase()
    return i18n?.locales.find((locale) => locale.toLowerCase() === first)
  }

  /** As it is, and in the default locale. */
  const inLocale = (path: string): readonly string[] =>
    i18n ? [path, `/${i18n.defaultLocale}${path === '/' ? '' : path}`] : [path]

  return {
    fileOf: (path) => {
      const file = inside(path)
      // Files are below the default locale too, and below no other one.
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
      if (page === undefined) return [path, ...inLocale(rest).map((one) => prefix + one)]
      // Where there is a proxy, Next takes data for the page that it is of.
      const pages = [page, page.replace(/^\/index(?=\/|$)/, '') || '/'].flatMap(inLocale)
      return [
        path,
        ...pages.flatMap((one) => (one === '/' ? [prefix, `${prefix}/`] : [prefix + one, `${prefix}${one}/`])),
      ]
    },
    // Next takes `/index` for the root here.
    isLocalised: (path) => Boolean(i18n) && /^\/(?:index(?:\/|$)|$)/.test(inside(path) ?? path),
  }
}

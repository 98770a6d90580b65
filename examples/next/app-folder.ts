/** The package of the Next that builds the app and serves it, which may be an older version. */
export const nextPackage: string = process.env.NEXT_PACKAGE ?? 'next'

const ofWeb = ['base', 'proxy', 'i18n', 'basePath', 'trailingSlash', 'standalone']
/** With `cacheComponents`, pages have no `revalidate` and the like of their own: they are another app. */
const ofComponents = ['cacheComponents', 'partialPrefetching']

const variant = process.env.NEXT_VARIANT ?? 'base'
const hasComponents = ofComponents.includes(variant)
// A mistyped `proxy` would otherwise build an app without middleware.
if (!hasComponents && !ofWeb.includes(variant)) {
  console.error(`Invalid NEXT_VARIANT: expected one of ${[...ofWeb, ...ofComponents].join(', ')}, got "${variant}".`)
  process.exit(1)
}

/** The app as it stands here. */
export const sources: URL = new URL(hasComponents ? 'cache-components/' : 'web/', import.meta.url)

/** The app that is built: the same, or a copy for a package of another name. */
export const web: URL = nextPackage === 'next' ? sources : new URL(`.${nextPackage}/`, import.meta.url)

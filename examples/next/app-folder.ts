/** The package of the Next that builds the app and serves it, which may be an older version. */
export const nextPackage: string = process.env.NEXT_PACKAGE ?? 'next'

/** With `cacheComponents`, pages have no `revalidate` and the like of their own: they are another app. */
const hasComponents = ['cacheComponents', 'partialPrefetching'].includes(process.env.NEXT_VARIANT ?? '')

/** The app as it stands here. */
export const sources: URL = new URL(hasComponents ? 'cache-components/' : 'web/', import.meta.url)

/** The app that is built: the same, or a copy for a package of another name. */
export const web: URL = nextPackage === 'next' ? sources : new URL(`.${nextPackage}/`, import.meta.url)

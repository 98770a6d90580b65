import type { IncomingMessage } from 'node:http'
import { assetPathOf } from '../next/asset-path.ts'
import type { NextConfig } from '../next/config.ts'

/** The header by which the client code of a build names it: for navigations, prefetches and server actions. */
const HEADER = 'x-deployment-id'
/** The query parameter by which the files of a build name it. */
const PARAMETER = /(?:^|&)dpl=([\w-]+)(?:&|$)/

/** The build that a request is for. */
interface RequestedBuild {
  readonly id: string
  /** Name of the request header that selects the build. Without it, the URL does. */
  readonly header?: string
}

export type RequestedBuildOf = (request: Pick<IncomingMessage, 'url' | 'headers'>) => RequestedBuild | undefined

/** Extensions of images, to whose URLs Next adds the parameter even if it does not transform them. */
const IMAGE = /\.(?:apng|avif|bmp|gif|ico|jpe?g|png|svg|webp)$/i

/**
 * Returns the function that finds the build that a request names, known or not. The URL comes first, because shared caches know
 * only that. It counts for files alone: a link of a stranger must not open a page of an older build.
 */
export function requestedBuildOf(config: NextConfig): RequestedBuildOf {
  const { basePath = '', images } = config
  const prefixes = [basePath, assetPathOf(config)].map((path) => `${path}/_next/`)
  const isFile = (path: string): boolean =>
    prefixes.some((prefix) => path.startsWith(prefix)) || path === images?.path || IMAGE.test(path)

  return ({ url = '', headers }) => {
    const query = url.indexOf('?')
    const byUrl = query === -1 ? undefined : PARAMETER.exec(url.slice(query + 1))?.[1]
    if (byUrl !== undefined && isFile(url.slice(0, query))) return { id: byUrl }
    const byHeader = headers[HEADER]
    return typeof byHeader === 'string' ? { id: byHeader, header: HEADER } : undefined
  }
}

import type { IncomingMessage } from 'node:http'

/** The header by which the client code of a build names it: for navigations, prefetches and server actions. */
const HEADER = 'x-deployment-id'
/** The query parameter by which the files of a build name it. */
const PARAMETER = /(?:^|&)dpl=([\w-]+)(?:&|$)/

/** The build that a request is for. */
export interface RequestedBuild {
  readonly id: string
  /** Name of the request header that selects the build. Without it, the URL does. */
  readonly header?: string
}

/** Returns the build that a request names, known or not. The URL comes first, because shared caches know only that. */
export function requestedBuild({
  url = '',
  headers,
}: Pick<IncomingMessage, 'url' | 'headers'>): RequestedBuild | undefined {
  const query = url.indexOf('?')
  const byUrl = query === -1 ? undefined : PARAMETER.exec(url.slice(query + 1))?.[1]
  if (byUrl !== undefined) return { id: byUrl }
  const byHeader = headers[HEADER]
  return typeof byHeader === 'string' ? { id: byHeader, header: HEADER } : undefined
}

// The routes for all requests that no other route of the app matches.

import { METHODS } from 'node:http'
import type { FastifyInstance, HTTPMethods, RouteOptions } from 'fastify'
import { addRoutesLast } from './last-routes.ts'

/**
 * Adds Next's routes below a prefix, after all other routes.
 *
 * @param assetPath - a path outside of the prefix with files of the build, or `''`
 */
export function addNextRoutes(
  app: FastifyInstance,
  { prefix, assetPath }: { readonly prefix: string; readonly assetPath: string },
  methods: HTTPMethods[],
  route: Omit<RouteOptions, 'method' | 'url'>,
): void {
  addRoutesLast(app, (isLast) => {
    const url = `${prefix}/*`
    const others = methods.filter((method) => method !== 'OPTIONS')
    app.route({ ...route, method: others, url })
    if (!hasOptions(app, url)) {
      app.route({ ...route, method: ['OPTIONS'], url, ...(!isLast && { constraints: ANY_HOST }) })
    }
    if (prefix !== '') app.route({ ...route, method: methods, url: prefix })
    const assets = `${assetPath}/_next/*`
    if (assetPath !== '' && !app.hasRoute({ method: 'GET', url: app.prefix + assets })) {
      app.route({ ...route, method: ['GET', 'HEAD'], url: assets })
    }
  })
}

/** Allows a later plugin to add a route for the same method and path. */
const ANY_HOST = { host: /(?:)/ }

/** All methods that Node supports, so that Next serves each. */
export function everyMethod(app: FastifyInstance): HTTPMethods[] {
  for (const method of METHODS) {
    // Node emits CONNECT as a separate event, so it cannot be routed.
    if (method === 'CONNECT' || app.supportedMethods.includes(method)) continue
    app.addHttpMethod(method, { hasBody: method === 'QUERY' })
  }
  return [...app.supportedMethods] as HTTPMethods[]
}

/** Whether another plugin has an OPTIONS route for the same paths, as @fastify/cors does. */
function hasOptions(app: FastifyInstance, path: string): boolean {
  return [path, path.slice(1)].some((url) => app.hasRoute({ method: 'OPTIONS', url: app.prefix + url }))
}

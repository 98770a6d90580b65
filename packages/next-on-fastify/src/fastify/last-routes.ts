// Adds routes last, in any order of plugins: `onRoute` hooks see only later routes, and a route of another plugin must come
// first. Fastify has no event after the last plugin, but `listen()` and `inject()` call `ready()`. Then the routes are
// added, as one more plugin.

import type { FastifyInstance, RouteOptions } from 'fastify'

type OnRoute = (this: FastifyInstance, options: RouteOptions) => void

/** The methods that are wrapped. */
interface Wrapped {
  readonly ready: (this: FastifyInstance, ...rest: readonly unknown[]) => unknown
  readonly addHook: (this: FastifyInstance, name: string, hook: OnRoute) => unknown
}

/**
 * Adds routes to an app while it loads. A plugin that was registered without `await` loads after the call of `ready()`.
 * Its routes are added immediately, and later `onRoute` hooks are called for them.
 *
 * @param addRoutes - gets true if all plugins have loaded
 */
export function addRoutesLast(app: FastifyInstance, addRoutes: (isLast: boolean) => void): void {
  const root = rootOf(app)
  if (isBooting(root)) {
    addRoutesNow(app, () => addRoutes(false))
    return
  }
  const { ready } = root as unknown as Wrapped
  let isQueued = false
  Object.assign(root, {
    ready(this: FastifyInstance, ...rest: unknown[]): unknown {
      if (!isQueued) {
        isQueued = true
        // After all synchronous calls of the caller, and before loading continues.
        process.nextTick(() => root.register(async () => addRoutes(true)))
      }
      return ready.apply(this, rest)
    },
  })
}

/** Fastify reads the hooks of a route once all plugins have loaded, so hooks that were added later also run. */
function addRoutesNow(app: FastifyInstance, addRoutes: () => void): void {
  const routes: RouteOptions[] = []
  let isAdding = true
  app.addHook('onRoute', (options) => {
    if (isAdding) routes.push(options)
  })
  addRoutes()
  isAdding = false
  const { addHook } = app as unknown as Wrapped
  Object.assign(app, {
    addHook(this: FastifyInstance, name: string, hook: OnRoute): unknown {
      const added = addHook.call(this, name, hook)
      if (name === 'onRoute' && this === app) {
        for (const route of routes) hook.call(app, route)
      }
      return added
    },
  })
}

/** Encapsulated contexts of an app inherit from the root. */
function rootOf(app: FastifyInstance): FastifyInstance {
  const parent = Object.getPrototypeOf(app) as Partial<FastifyInstance> | null
  return parent?.ready === undefined ? app : rootOf(parent as FastifyInstance)
}

/** Fastify's internal state. From the call of `ready()` on, it has a promise (5.0) or its resolver (newer versions). */
interface State {
  readonly readyPromise?: unknown
  readonly readyResolver?: unknown
}

/** Whether `ready()` was called. Fastify has no public property for it. If its state is unexpected, it counts as called. */
function isBooting(root: FastifyInstance): boolean {
  const symbol = Object.getOwnPropertySymbols(root).find(({ description }) => description === 'fastify.state')
  const { readyPromise, readyResolver = readyPromise } =
    symbol === undefined ? {} : (root as unknown as Record<symbol, State>)[symbol]!
  return readyResolver !== null
}

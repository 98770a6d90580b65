// Routes that come last, in whatever order plugins are registered: `onRoute` hooks see only routes that follow them, and a route
// that another plugin wants too must not be there before it.
//
// Fastify has no event between the last plugin and the end of loading. `ready()` is called right before, by `listen()` and
// `inject()` too, so routes are added then. A plugin that was registered without `await` loads after that call: its routes are
// added at once, and `onRoute` hooks that follow are called for them.

import type { FastifyInstance, RouteOptions } from 'fastify'

type OnRoute = (this: FastifyInstance, options: RouteOptions) => void

/** What is covered: they are methods, and called as such. */
interface Covered {
  readonly ready: (this: FastifyInstance, ...rest: readonly unknown[]) => unknown
  readonly addHook: (this: FastifyInstance, name: string, hook: OnRoute) => unknown
}

/**
 * Adds routes to an app that loads.
 *
 * @param addRoutes - is told whether all plugins have loaded
 */
export function addRoutesLast(app: FastifyInstance, addRoutes: (isLast: boolean) => void): void {
  const root = rootOf(app)
  if (isBooting(root)) {
    addRoutesNow(app, () => addRoutes(false))
    return
  }
  const { ready } = root as unknown as Covered
  let isQueued = false
  Object.assign(root, {
    ready(this: FastifyInstance, ...rest: unknown[]): unknown {
      if (!isQueued) {
        isQueued = true
        // After what the caller registers synchronously, and before loading goes on.
        process.nextTick(() => root.register(async () => addRoutes(true)))
      }
      return ready.apply(this, rest)
    },
  })
}

/** Fastify reads the hooks of a route when all plugins have loaded, so those that are added until then count. */
function addRoutesNow(app: FastifyInstance, addRoutes: () => void): void {
  const routes: RouteOptions[] = []
  let isAdding = true
  app.addHook('onRoute', (options) => {
    if (isAdding) routes.push(options)
  })
  addRoutes()
  isAdding = false
  const { addHook } = app as unknown as Covered
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

/** Contexts of an app inherit from each other. */
function rootOf(app: FastifyInstance): FastifyInstance {
  const parent = Object.getPrototypeOf(app) as Partial<FastifyInstance> | null
  return parent?.ready === undefined ? app : rootOf(parent as FastifyInstance)
}

/** The state of Fastify: 5.0 has a promise there from the call of `ready()` on, and newer versions what resolves one. */
interface State {
  readonly readyPromise?: unknown
  readonly readyResolver?: unknown
}

/** Whether `ready()` has been called, which Fastify does not tell. Where its state is not as expected, it counts as called. */
function isBooting(root: FastifyInstance): boolean {
  const symbol = Object.getOwnPropertySymbols(root).find(({ description }) => description === 'fastify.state')
  const { readyPromise, readyResolver = readyPromise } =
    symbol === undefined ? {} : (root as unknown as Record<symbol, State>)[symbol]!
  return readyResolver !== null
}

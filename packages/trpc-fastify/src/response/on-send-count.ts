// Counts the `onSend` hooks of an app, for which Fastify has no public function.

import type { FastifyInstance, onRouteHookHandler } from 'fastify'

type HookStore = Readonly<Record<'onRoute' | 'onSend', unknown>>

/**
 * Adds an `onRoute` hook to an app. Returns a function that counts the `onSend` hooks of the app. The count is undefined if
 * Fastify stores hooks elsewhere: only a store in which the added hook shows up is trusted.
 */
export function addOnRouteHook(app: FastifyInstance, onRoute: onRouteHookHandler): () => number | undefined {
  const before = lengthOf(storeOf(app)?.onRoute)
  app.addHook('onRoute', onRoute)
  const isStore = before !== undefined && lengthOf(storeOf(app)?.onRoute) === before + 1
  return () => (isStore ? lengthOf(storeOf(app)?.onSend) : undefined)
}

function storeOf(app: FastifyInstance): HookStore | undefined {
  const symbol = Object.getOwnPropertySymbols(app).find(({ description }) => description === 'fastify.hooks')
  return symbol && (app as unknown as Record<symbol, HookStore | undefined>)[symbol]
}

function lengthOf(hooks: unknown): number | undefined {
  return Array.isArray(hooks) ? hooks.length : undefined
}

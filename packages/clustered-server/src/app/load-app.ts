import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { Server } from 'node:net'
import { pathToFileURL } from 'node:url'
import { isPromise } from 'node:util/types'
import { type ClusteredServerError, errorCodes } from '../errors.ts'
import { describe, describeDefault, isClass } from './default-export.ts'
import { importApp } from './import-app.ts'
import { type AnyFunction, instanceWith, isFastifyPlugin, isMarkedPlugin } from './plugin-detection.ts'
import { isFetchApp, listenerOf } from './fetch-app.ts'
import { cannotListenLater, type ListenHook } from './listen-hook.ts'
import { unlessStalled } from './stalled-start.ts'

/** An address or an existing listening socket. Fastify needs the host in any case. */
export type Where = { port: number; host: string } | { path: string } | { fd: number; host: string }

/** An app that is ready to listen. */
export interface App {
  /** Known only after `listen()` if the app listens by itself. */
  readonly server: Server
  /** Makes the app listen on an address or an existing socket. */
  listen: (where: Where) => Promise<void>
  /** The module's export `metrics`: a registry of prom-client, if the app has its own. */
  readonly metrics?: unknown
  /** Runs the app's own close, such as Fastify's `onClose` hooks, for 5 seconds at most. */
  close: () => Promise<void>
}

/** Common part of Fastify instances and NestJS apps. */
interface Closable {
  close: () => unknown
}
interface FastifyLike extends Closable {
  ready: () => PromiseLike<unknown>
  listen: (where: Where) => Promise<unknown>
  server: Server
}
interface NestLike extends Closable {
  init: () => Promise<unknown>
  getHttpServer: () => Server
}

interface KoaLike {
  callback: () => RequestListener
}

/** Maximum milliseconds for an app to close, after its connections have ended. */
const CLOSE_TIMEOUT = 5000

const EXPECTED =
  'a default export that is a function without parameters, which returns an app of Fastify, Express, NestJS, Koa or Hono, a server of node:http, node:https or node:http2, a request listener or a plugin of Fastify'

/** Number of apps that load now in this process. */
let loadingApps = 0

/** A start that waits. */
interface Waiting {
  /** Called with a description of the default export when it is no app: the app may listen later. */
  readonly onWait: (exported: string) => void
  /** Whether the app waits for a response of another process, which does not keep the event loop alive. */
  readonly isPending?: () => boolean
}

/**
 * Loads the module of an app, creates the app and warms it up.
 *
 * @param hook intercepts the app's own `listen()`
 * @throws CLUSTERED_SERVER_INVALID_APP when the module has no app
 * @throws CLUSTERED_SERVER_START_FAILED when it waits for something that cannot happen
 */
export async function loadApp(url: string, hook: ListenHook, { onWait, isPending }: Waiting): Promise<App> {
  let exported: string | undefined
  loadingApps++
  const loading = load(url, hook, (description) => {
    exported = description
    onWait(description)
  })
  return unlessStalled(loading, () => {
    if (isPending?.()) return undefined
    return exported === undefined || hook.server ? neverLoaded(url) : cannotListenLater(url, hook.expected, exported)
  }).finally(() => loadingApps--)
}

async function load(url: string, hook: ListenHook, onWait: (exported: string) => void): Promise<App> {
  const module = await importApp(url)
  // Not of other thenables: a Fastify instance is one.
  const exported: unknown = isPromise(module.default) ? await module.default : module.default
  const given: unknown = isFactory(exported) ? await exported() : exported
  const isPlugin = isFunction(given) && !isClass(given) && isFastifyPlugin(given)
  const made = isPlugin ? await instanceWith(given, url, module.options) : given
  const listens = (): Promise<Server> =>
    listenerFor(url, made, hook, () => onWait(describeDefault({ ...module, default: exported }, made)))
  const app = (await appOf(made, url)) ?? serverApp(await listens())
  if (typeof module.warmUp === 'function') await (module.warmUp as (app: unknown) => unknown)(made)
  return { ...app, metrics: module.metrics }
}

/** Resolves with the server on which an app listens by itself, now or later. */
async function listenerFor(url: string, made: unknown, hook: ListenHook, onWait: () => void): Promise<Server> {
  if (hook.server) return hook.server
  // A CommonJS script without exports has an empty object.
  if (made !== undefined && typeof made !== 'object' && !isClass(made)) throw noApp(url, made)
  onWait()
  return hook.found
}

function noApp(url: string, made: unknown): ClusteredServerError {
  const got = isRouter(made) ? 'a router: mount it on an app, as in express().use(router)' : describe(made)
  return new errorCodes.CLUSTERED_SERVER_INVALID_APP(`Expected ${url} to have ${EXPECTED}; got ${got}`)
}

function neverLoaded(url: string): ClusteredServerError {
  const isMain = process.argv[1] !== undefined && pathToFileURL(process.argv[1]).href === url
  if (isMain || loadingApps > 1)
    return new errorCodes.CLUSTERED_SERVER_INSIDE_WORKER(
      'The app calls createClusteredServer(), which waits for the app: move the app to its own module',
    )
  const text = `Expected ${url} to load, but it awaits a promise that nothing is left to settle: correct its default export, its warmUp or a top-level await`
  return new errorCodes.CLUSTERED_SERVER_START_FAILED(text)
}

/** A function with parameters is a request listener, such as an Express app. */
function isFactory(value: unknown): value is () => unknown {
  return isFunction(value) && value.length === 0 && !isMarkedPlugin(value) && !isClass(value)
}

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function'
}

async function appOf(made: unknown, url: string): Promise<App | undefined> {
  if (isClass(made) || isRouter(made)) return undefined
  if (isFastify(made)) {
    await made.ready()
    return appWith(made.server, (where) => made.listen({ ...where }), made)
  }
  if (isNest(made)) {
    await made.init()
    return appWith(made.getHttpServer(), undefined, made)
  }
  if (made instanceof Server) return serverApp(made)
  const listener = isKoa(made) ? made.callback() : isFetchApp(made) ? await listenerOf(made, url) : made
  return isFunction(listener) ? serverApp(createServer(listener as RequestListener)) : undefined
}

function serverApp(server: Server): App {
  return appWith(server, undefined, { close: () => closeServer(server) })
}

function appWith(
  server: Server,
  listen: (where: Where) => Promise<unknown> = (where) => listenOn(server, where),
  closable: Closable,
): App {
  return {
    server,
    listen: async (where) => {
      if (!server.listening) await listen(where)
    },
    close: () => closeInTime(closable),
  }
}

/** An app that hangs while it closes counts as closed. */
async function closeInTime(closable: Closable): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_TIMEOUT)
  })
  try {
    await Promise.race([closable.close(), late])
  } finally {
    clearTimeout(timer)
  }
}

async function listenOn(server: Server, where: Where): Promise<void> {
  server.listen(where)
  await once(server, 'listening')
}

/** A server that does not listen counts as closed. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}

function isFastify(made: unknown): made is FastifyLike {
  return hasMethods(made, 'ready', 'listen', 'close', 'inject') && 'server' in made
}

function isNest(made: unknown): made is NestLike {
  return hasMethods(made, 'init', 'getHttpServer', 'listen', 'close')
}

/** A router of Express. By itself it throws at requests for unknown paths, which would end the process. */
function isRouter(made: unknown): boolean {
  if (!isFunction(made)) return false
  const { stack, handle, listen } = made as { stack?: unknown; handle?: unknown; listen?: unknown }
  return Array.isArray(stack) && isFunction(handle) && !isFunction(listen)
}

function isKoa(made: unknown): made is KoaLike {
  return hasMethods(made, 'use', 'callback', 'listen')
}

function hasMethods(value: unknown, ...names: string[]): value is object {
  return (
    typeof value === 'object' && value !== null && names.every((name) => typeof (value as never)[name] === 'function')
  )
}

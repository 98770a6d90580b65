import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:net'
import { type ClusteredServerError, errorCodes } from '../errors.ts'
import type { Missing } from '../ipc/messages.ts'
import { listenOnHandle } from '../platform/node-internals.ts'
import { isOwn } from '../platform/own-servers.ts'

const CHANNEL = 'tracing:net.server.listen:asyncStart'

/** Where the app is expected to listen: a port, or the path of a UNIX socket. */
export interface Expected {
  readonly port: number
  readonly path: string | undefined
  /** Descriptor of a socket that is bound there. */
  readonly fd: number | undefined
}

type Address = Omit<Expected, 'fd'>

const REMEDY = 'export the app, or have it listen on process.env.PORT'

/** Arguments of `server.listen()`. */
export interface ListenOptions {
  port?: number | string | null
  host?: string
  path?: unknown
  fd?: number
  exclusive?: boolean
  readableAll?: boolean
  writableAll?: boolean
}

interface Listeners {
  /** Called with the first server that listens at the expected address. */
  onExpected?: (server: Server) => void
  /** Called with each server that listens elsewhere. */
  onOther?: (server: Server, options: ListenOptions) => void
}

/** Intercepts each `listen()` of an app, before it takes effect. */
export class ListenHook {
  /** First server that listens at the expected address. */
  server: Server | undefined
  /** Host that the app names for that server. */
  host: string | undefined
  /** Descriptions of the other addresses. */
  readonly elsewhere: string[] = []
  readonly expected: Expected
  readonly #listeners: Listeners
  readonly #found = Promise.withResolvers<Server>()
  readonly #onListen = (message: unknown): void => {
    const { server, options } = message as { server: Server; options: ListenOptions }
    if (isOwn(server)) return
    if (!this.server && this.#isExpected(options)) this.#take(server, options)
    // The app's server may listen on the socket of the primary.
    else if (server !== this.server && (options.fd === undefined || options.fd !== this.expected.fd))
      this.#addOther(server, options)
  }

  constructor(expected: Expected, listeners: Listeners = {}) {
    this.expected = expected
    this.#listeners = listeners
    subscribe(CHANNEL, this.#onListen)
  }

  /** Resolves with the first server that listens at the expected address. */
  get found(): Promise<Server> {
    return this.#found.promise
  }

  stop(): void {
    unsubscribe(CHANNEL, this.#onListen)
  }

  #isExpected({ port, path }: ListenOptions): boolean {
    const { port: expected, path: expectedPath } = this.expected
    return expectedPath === undefined ? path === undefined && Number(port) === expected : path === expectedPath
  }

  #take(server: Server, options: ListenOptions): void {
    this.server = server
    this.host = options.host
    const { fd, path } = this.expected
    if (fd !== undefined && path !== undefined) listenOnHandle(server, fd)
    else if (fd !== undefined) options.fd = fd
    this.#listeners.onExpected?.(server)
    this.#found.resolve(server)
  }

  #addOther(server: Server, options: ListenOptions): void {
    const { path, port, fd } = options
    this.elsewhere.push(
      typeof path === 'string' ? path : port === undefined ? `descriptor ${fd ?? 'of its own'}` : `port ${port ?? 0}`,
    )
    this.#listeners.onOther?.(server, options)
  }
}

/**
 * Describes that nothing listens at the expected address, with a hint at the cause.
 *
 * @param exported describes the default export of the app's module
 */
export function nothingListened(expected: Address, elsewhere: readonly string[], exported: string): Missing {
  const hint = elsewhere.length > 0 ? `the app listens on ${elsewhere.join(', ')}` : `${exported}; ${REMEDY}`
  return { what: `nothing listened on ${nameOf(expected)}`, hint }
}

/**
 * The error of a module that has no app and has nothing left to run.
 *
 * @param exported describes the default export of the app's module
 */
export function cannotListenLater(url: string, expected: Address, exported: string): ClusteredServerError {
  const text = `Expected ${url} to export an app or to listen on ${nameOf(expected)}, but ${exported}, and nothing is left to run that could listen: ${REMEDY}`
  return new errorCodes.CLUSTERED_SERVER_INVALID_APP(text)
}

function nameOf({ port, path }: Address): string {
  return path ?? `port ${port}`
}

/** Describes the missing condition of a start that has timed out. */
export function lateText({ what, hint }: Missing, timeout: number): string {
  return `${what} within ${timeout} ms${hint === undefined ? '' : `: ${hint}`}`
}

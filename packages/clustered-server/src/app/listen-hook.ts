import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:net'
import { listenOnHandle } from '../platform/node-internals.ts'

const CHANNEL = 'tracing:net.server.listen:asyncStart'

/** Where the app is expected to listen: a port, or the path of a UNIX socket. */
export interface Expected {
  readonly port: number
  readonly path: string | undefined
  /** The descriptor of a socket that is bound there. */
  readonly fd: number | undefined
}

/** What `server.listen()` was called with. */
export interface ListenOptions {
  port?: number | string | null
  path?: unknown
  fd?: number
  exclusive?: boolean
  readableAll?: boolean
  writableAll?: boolean
}

interface Listeners {
  /** Is given the first server that listens where it is expected. */
  onExpected?: (server: Server) => void
  /** Is given each server that listens elsewhere. */
  onOther?: (server: Server, options: ListenOptions) => void
}

/** Sees each `listen()` of an app, just before it takes effect. */
export class ListenWatch {
  /** The first server that listens where it is expected. */
  server: Server | undefined
  /** Where the others listen, in words. */
  readonly elsewhere: string[] = []
  readonly #expected: Expected
  readonly #listeners: Listeners
  readonly #found = Promise.withResolvers<Server>()
  readonly #onListen = (message: unknown): void => {
    const { server, options } = message as { server: Server; options: ListenOptions }
    if (!this.server && this.#isExpected(options)) this.#take(server, options)
    // The socket of the primary is that of the app's server.
    else if (server !== this.server && (options.fd === undefined || options.fd !== this.#expected.fd))
      this.#addOther(server, options)
  }

  constructor(expected: Expected, listeners: Listeners = {}) {
    this.#expected = expected
    this.#listeners = listeners
    subscribe(CHANNEL, this.#onListen)
  }

  /** Resolves with the first server that listens where it is expected. */
  get found(): Promise<Server> {
    return this.#found.promise
  }

  stop(): void {
    unsubscribe(CHANNEL, this.#onListen)
  }

  #isExpected({ port, path }: ListenOptions): boolean {
    const { port: expected, path: expectedPath } = this.#expected
    return expectedPath === undefined ? path === undefined && Number(port) === expected : path === expectedPath
  }

  #take(server: Server, options: ListenOptions): void {
    this.server = server
    const { fd, path } = this.#expected
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

/** What is missing while nothing listens where it should, and what may explain it. */
export function nothingListened({ port, path }: Omit<Expected, 'fd'>, elsewhere: readonly string[]): Missing {
  const hint =
    elsewhere.length > 0
      ? `the app listens on ${elsewhere.join(', ')}`
      : 'export the app, or have it listen on process.env.PORT'
  return { what: `nothing listened on ${path ?? `port ${port}`}`, hint }
}

/** What a start waits for. */
export interface Missing {
  readonly what: string
  readonly hint?: string
}

/** Says what was missing after so many milliseconds. */
export function lateText({ what, hint }: Missing, timeout: number): string {
  return `${what} within ${timeout} ms${hint === undefined ? '' : `: ${hint}`}`
}

import { EventEmitter, once } from 'node:events'
import { type AddressInfo, Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AdminAddress, ClusteredServer, ClusteredServerEvents, ClusterStatus } from './types.ts'
import { Connections } from './connections/connections.ts'
import { cannotListen, ClusteredServerError } from './errors.ts'
import { lateText, ListenWatch, type Missing, nothingListened } from './app/listen-hook.ts'
import { type App, loadApp, type Where } from './app/load-app.ts'
import type { AppMetrics } from './observability/metrics-text.ts'
import type { ResolvedOptions } from './options/options.ts'
import { findRegistry } from './observability/prom-client.ts'
import { checkReady } from './app/ready-check.ts'
import { resign } from './worker/run-on-one-worker.ts'
import { passedSocket } from './platform/systemd.ts'
import { removeStale } from './platform/unix-socket.ts'

/** The app in this process: without workers there is nothing that a cluster would be for, and nothing of its price. */
export class SingleProcess extends EventEmitter<ClusteredServerEvents> implements ClusteredServer {
  readonly #options: ResolvedOptions
  #app: App | undefined
  #connections: Connections | undefined
  #isListening = false
  /** There is one when it listens on a port. */
  #address: AddressInfo | undefined
  #closed: Promise<void> | undefined
  #path: string | undefined
  readonly #killed = new AbortController()
  admin: AdminAddress | undefined
  readonly appMetrics: AppMetrics = {
    text: async () => (await findRegistry(this.#app?.metrics)?.registry.metrics()) ?? '',
  }

  private constructor(options: ResolvedOptions) {
    super()
    this.#options = options
    this.#path = options.path
  }

  /**
   * Loads the app and has it listen.
   *
   * @param observe is given the server before that
   */
  static async start(options: ResolvedOptions, observe: (server: SingleProcess) => void): Promise<SingleProcess> {
    const server = new SingleProcess(options)
    observe(server)
    try {
      await server.#start()
    } catch (error) {
      if (!server.#closed) server.emit('closed')
      throw error
    }
    return server
  }

  get port(): number {
    return this.#address?.port ?? this.#options.port
  }

  get host(): string {
    if (this.path !== undefined) return ''
    return this.#address?.address ?? this.#options.host ?? '::'
  }

  get path(): string | undefined {
    return this.#path
  }

  status(): ClusterStatus {
    return { ready: this.#isListening && !this.#closed, generation: 1, workers: [] }
  }

  reload(): Promise<void> {
    return refuse('A server of one process cannot be reloaded')
  }

  scale(): Promise<void> {
    return refuse('A server of one process has no workers')
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Closes all connections; the app is told to close, and nobody waits for it. */
  kill(): void {
    this.#killed.abort()
    // An app's own way to close may let connections in for a while.
    if (this.#app?.server.listening) Server.prototype.close.call(this.#app.server)
    this.#connections?.destroy()
    this.#closed ??= this.#end()
  }

  async #start(): Promise<void> {
    const { port, host, path, env } = this.#options
    const fd = passedSocket()
    if (fd !== undefined) this.#path = undefined
    Object.assign(process.env, typeof env === 'function' ? env() : env)
    const app = await this.#load(fd)
    // It was told to end meanwhile.
    if (this.#closed) {
      await Promise.allSettled([this.#closed, app.close()])
      throw new ClusteredServerError('CLUSTERED_SERVER_CLOSED', 'The server was closed while it started')
    }
    this.#app = app
    this.#connections = new Connections(app.server)
    try {
      // As listen() without a host does, for apps whose own default is another one.
      await app.listen(whereOf(this.#options, fd))
    } catch (error) {
      // Such an app has connections to databases and the like, which nobody would end.
      await Promise.allSettled([app.close()])
      throw cannotListen(host, path ?? port, error)
    }
    const address = app.server.address()
    if (typeof address === 'object' && address !== null) this.#address = address
    this.#isListening = true
  }

  async #load(fd: number | undefined): Promise<App> {
    const { port, host, env } = this.#options
    try {
      if (this.#path !== undefined) await removeStale(this.#path)
    } catch (error) {
      throw cannotListen(host, this.#path ?? port, error)
    }
    const { PORT: before } = process.env
    // For apps that listen by themselves, where they are told to.
    if (typeof env === 'function' || env['PORT'] === undefined) process.env['PORT'] = this.#path ?? String(port)
    try {
      return await load(this.#options, fd)
    } finally {
      if (before === undefined) delete process.env['PORT']
      else process.env['PORT'] = before
    }
  }

  async #end(): Promise<void> {
    if (this.#app) await Promise.allSettled([this.#app.close()])
    this.emit('closed')
  }

  /** Rejects with what the app's own way to close, or `onShutdown`, fails with, when all is closed all the same. */
  async #close(): Promise<void> {
    this.emit('closing')
    const { shutdownDelay, drainTimeout, onShutdown } = this.#options
    if (shutdownDelay > 0) await sleep(shutdownDelay, undefined, { signal: this.#killed.signal }).catch(() => {})
    const isOver = sleep(drainTimeout, undefined, { ref: false })
    await Promise.all([this.#connections?.drain(false, drainTimeout), Promise.race([resign(), isOver])])
    try {
      await this.#app?.close()
      await onShutdown()
    } finally {
      this.#connections?.destroy()
      this.emit('closed')
    }
  }
}

function whereOf({ port, path, host = '::' }: ResolvedOptions, fd: number | undefined): Where {
  if (fd !== undefined) return { fd, host }
  return path === undefined ? { port, host } : { path }
}

/** @throws {ClusteredServerError} `CLUSTERED_SERVER_INVALID_APP`, `CLUSTERED_SERVER_START_FAILED` */
async function load(options: ResolvedOptions, fd: number | undefined): Promise<App> {
  const { app, port, path, readyPath, startTimeout } = options
  // An app may listen by itself, where it is told to: the first server that does is the app's.
  const watch = new ListenWatch({ port, path, fd })
  const ready = async (): Promise<App> => {
    const loaded = await loadApp(app, watch, () => {
      missing = () => nothingListened(options, watch.elsewhere)
    })
    // It looks a host up first.
    if (loaded.server === watch.server && !loaded.server.listening) await once(loaded.server, 'listening')
    watch.stop()
    if (readyPath === undefined) return loaded
    missing = () => ({ what: `it did not respond to GET ${readyPath}` })
    try {
      await checkReady(loaded.server, readyPath)
      return loaded
    } catch (error) {
      await Promise.allSettled([loaded.close()])
      throw error
    }
  }
  let missing = (): Missing => ({ what: 'it was not loaded' })
  let timer: NodeJS.Timeout | undefined
  try {
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(lateText(missing(), startTimeout))), startTimeout)
    })
    return await Promise.race([ready(), late])
  } catch (error) {
    if (error instanceof ClusteredServerError) throw error
    const text = `The app did not start: ${error instanceof Error ? error.message : String(error)}`
    throw new ClusteredServerError('CLUSTERED_SERVER_START_FAILED', text, { cause: error })
  } finally {
    clearTimeout(timer)
    watch.stop()
  }
}

async function refuse(text: string): Promise<never> {
  throw new ClusteredServerError('CLUSTERED_SERVER_SINGLE_PROCESS', `${text}: ask for 2 workers or more`)
}

import { EventEmitter, once } from 'node:events'
import { type AddressInfo, Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from 'checked-options'
import type { AdminAddress, ClusteredServer, ClusteredServerEvents, ClusterStatus } from '../server-types.ts'
import { Connections } from '../connections/connections.ts'
import { cannotListen, ClusteredServerError, errorCodes } from '../errors.ts'
import { lateText, ListenHook, nothingListened } from '../app/listen-hook.ts'
import type { Missing } from '../ipc/messages.ts'
import { type App, loadApp, type Where } from '../app/load-app.ts'
import type { AppMetrics } from '../observability/metrics-text.ts'
import type { ResolvedOptions } from '../options/types.ts'
import { findRegistry } from '../observability/prom-client.ts'
import { checkReady } from '../app/ready-check.ts'
import { resign } from '../worker/run-on-one-worker.ts'
import { isOutOfDescriptors } from '../platform/out-of-descriptors.ts'
import { passedSocket } from '../platform/systemd-socket.ts'
import { removeStale } from '../platform/unix-socket.ts'

/** Milliseconds between two looks for a free file descriptor. */
const DESCRIPTOR_INTERVAL = 1000

/** Runs the app in this process, without the cost of a cluster. */
export class SingleProcess extends EventEmitter<ClusteredServerEvents> implements ClusteredServer {
  readonly #options: ResolvedOptions
  #app: App | undefined
  #connections: Connections | undefined
  #isListening = false
  /** Set when the app listens on a port. */
  #address: AddressInfo | undefined
  #closed: Promise<void> | undefined
  #path: string | undefined
  readonly #killed = new AbortController()
  admin: AdminAddress | undefined
  readonly appMetrics: AppMetrics = {
    text: async () => (await findRegistry(this.#app?.metrics)?.registry.metrics()) ?? '',
  }

  private constructor(options: ResolvedOptions) {
    super({ captureRejections: true })
    this.#options = options
    this.#path = options.path
  }

  /**
   * Loads the app and makes it listen.
   *
   * @param observe is called with the server before that
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
    return { ready: this.#isListening && !this.#closed, generation: 1, size: 1, workers: [] }
  }

  reload(): Promise<void> {
    return rejectSingle('A server with one process cannot be reloaded')
  }

  scale(): Promise<void> {
    return rejectSingle('A server with one process cannot be scaled')
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Closes all connections and starts the app's close without waiting for it. */
  kill(): void {
    this.#killed.abort()
    // The app's own close may accept connections for a while.
    if (this.#app?.server.listening) Server.prototype.close.call(this.#app.server)
    this.#connections?.destroy()
    this.#closed ??= this.#end()
  }

  async #start(): Promise<void> {
    const { port, host, path, args, env } = this.#options
    const fd = passedSocket()
    if (fd !== undefined) this.#path = undefined
    Object.assign(process.env, typeof env === 'function' ? env(1) : env)
    if (args) process.argv.splice(2, Infinity, ...args)
    const app = await this.#load(fd)
    // The server was closed meanwhile.
    if (this.#closed) {
      await Promise.allSettled([this.#closed, app.close()])
      throw new errorCodes.CLUSTERED_SERVER_CLOSED('The server was closed while it started')
    }
    this.#app = app
    this.#connections = new Connections(app.server)
    try {
      // With the default of node:net; apps may have another default.
      await app.listen(whereOf(this.#options, fd))
    } catch (error) {
      // Otherwise database connections of the app would stay open.
      await Promise.allSettled([app.close()])
      throw cannotListen(host, path ?? port, error)
    }
    const address = app.server.address()
    if (typeof address === 'object' && address !== null) this.#address = address
    this.#isListening = true
    this.#watchDescriptors()
  }

  /** Reading the memory needs a descriptor. Without a free one, libuv closes new connections without an event. */
  #watchDescriptors(): void {
    const timer = setInterval(() => {
      try {
        process.memoryUsage.rss()
      } catch (error) {
        if (isOutOfDescriptors(error)) this.emit('workerFull', { id: 1, pid: process.pid, generation: 1 })
      }
    }, DESCRIPTOR_INTERVAL).unref()
    this.once('closed', () => clearInterval(timer))
  }

  async #load(fd: number | undefined): Promise<App> {
    const { port, host, env } = this.#options
    try {
      if (this.#path !== undefined) await removeStale(this.#path)
    } catch (error) {
      throw cannotListen(host, this.#path ?? port, error)
    }
    const { PORT: before } = process.env
    // For apps that listen by themselves.
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

  /** Closes everything, then rejects if the app's close or `onShutdown` has failed. */
  async #close(): Promise<void> {
    this.emit('closing')
    const { shutdownDelay, drainTimeout, onShutdown } = this.#options
    if (shutdownDelay > 0) await sleep(shutdownDelay, undefined, { signal: this.#killed.signal }).catch(() => {})
    const timedOut = sleep(drainTimeout, undefined, { ref: false })
    await Promise.all([this.#connections?.drain(false, drainTimeout), Promise.race([resign(), timedOut])])
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

/** @throws CLUSTERED_SERVER_INVALID_APP, CLUSTERED_SERVER_START_FAILED */
async function load(options: ResolvedOptions, fd: number | undefined): Promise<App> {
  const { app, port, path, readyPath, startTimeout } = options
  const hook = new ListenHook({ port, path, fd })
  const ready = async (): Promise<App> => {
    const loaded = await loadApp(app, hook, {
      onWait: (exported) => {
        missing = () => nothingListened(options, hook.elsewhere, exported)
      },
    })
    // listen() resolves a host name first.
    if (loaded.server === hook.server && !loaded.server.listening) await once(loaded.server, 'listening')
    hook.stop()
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
      // Otherwise it would hide that an app has nothing left to run.
      timer.unref()
    })
    return await Promise.race([ready(), late])
  } catch (error) {
    if (error instanceof ClusteredServerError) throw error
    const text = `The app did not start: ${reasonOf(error)}`
    throw new errorCodes.CLUSTERED_SERVER_START_FAILED(text, { cause: error })
  } finally {
    clearTimeout(timer)
    hook.stop()
  }
}

async function rejectSingle(text: string): Promise<never> {
  throw new errorCodes.CLUSTERED_SERVER_SINGLE_PROCESS(`${text}: set "workers" to 2 or more`)
}

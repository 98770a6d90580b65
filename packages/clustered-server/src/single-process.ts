import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, Server } from 'node:net'
import type { ClusteredServer, ClusteredServerEvents, ClusterStatus } from './clustered-server.ts'
import { Connections } from './connections.ts'
import { ClusteredServerError } from './errors.ts'
import { type App, loadApp } from './load-app.ts'
import type { ResolvedOptions } from './options.ts'

/** Milliseconds that an app may take to close, after its connections have ended. */
const CLOSE_TIMEOUT = 5000

/** The app in this process: without workers there is nothing that a cluster would be for, and nothing of its price. */
export class SingleProcess extends EventEmitter<ClusteredServerEvents> implements ClusteredServer {
  readonly #app: App
  readonly #connections: Connections
  readonly #drainTimeout: number
  readonly #address: AddressInfo
  #closed: Promise<void> | undefined

  private constructor(app: App, connections: Connections, drainTimeout: number) {
    super()
    this.#app = app
    this.#connections = connections
    this.#drainTimeout = drainTimeout
    this.#address = app.server.address() as AddressInfo
  }

  /** Loads the app and has it listen. */
  static async start(options: ResolvedOptions): Promise<SingleProcess> {
    const { port, host, env, drainTimeout } = options
    Object.assign(process.env, typeof env === 'function' ? env() : env)
    const app = await load(options)
    const connections = new Connections(app.server)
    try {
      // As listen() without a host does, for apps whose own default is another one.
      await app.listen({ port, host: host ?? '::' })
    } catch (error) {
      // Such an app has connections to databases and the like, which nobody would end.
      await Promise.allSettled([closed(app)])
      const text = `Cannot listen on ${host ?? 'any address'}, port ${port}: ${(error as Error).message}`
      throw new ClusteredServerError('CLUSTERED_SERVER_CANNOT_LISTEN', text, { cause: error })
    }
    return new SingleProcess(app, connections, drainTimeout)
  }

  get port(): number {
    return this.#address.port
  }

  get host(): string {
    return this.#address.address
  }

  status(): ClusterStatus {
    return { generation: 1, workers: [] }
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
    // An app's own way to close may let connections in for a while.
    if (this.#app.server.listening) Server.prototype.close.call(this.#app.server)
    this.#connections.destroy()
    this.#closed ??= this.#end()
  }

  async #end(): Promise<void> {
    await Promise.allSettled([closed(this.#app)])
    this.emit('closed')
  }

  /** Rejects with what the app's own way to close fails with, when all is closed all the same. */
  async #close(): Promise<void> {
    this.emit('closing')
    await this.#connections.drain(false, this.#drainTimeout)
    try {
      await closed(this.#app)
    } finally {
      this.#connections.destroy()
      this.emit('closed')
    }
  }
}

/** @throws {ClusteredServerError} `CLUSTERED_SERVER_INVALID_APP`, `CLUSTERED_SERVER_START_FAILED` */
async function load({ app, port, startTimeout }: ResolvedOptions): Promise<App> {
  // An app may listen by itself, where it is told to: the first server that does is the app's.
  let listening: Server | undefined
  const onListen = (message: unknown): void => {
    const { server, options } = message as { server: Server; options: { port?: unknown } }
    if (Number(options.port) === port) listening ??= server
  }
  const ready = async (): Promise<App> => {
    const loaded = await loadApp(app, () => listening)
    // It looks a host up first.
    if (loaded.server === listening && !listening.listening) await once(listening, 'listening')
    return loaded
  }
  subscribe('tracing:net.server.listen:asyncStart', onListen)
  let timer: NodeJS.Timeout | undefined
  try {
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`it was not loaded within ${startTimeout} ms`)), startTimeout)
    })
    return await Promise.race([ready(), late])
  } catch (error) {
    if (error instanceof ClusteredServerError) throw error
    const text = `The app did not start: ${error instanceof Error ? error.message : String(error)}`
    throw new ClusteredServerError('CLUSTERED_SERVER_START_FAILED', text, { cause: error })
  } finally {
    clearTimeout(timer)
    unsubscribe('tracing:net.server.listen:asyncStart', onListen)
  }
}

/** An app that hangs while it closes is as good as closed. */
async function closed(app: App): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([
    app.close(),
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_TIMEOUT)
    }),
  ]).finally(() => clearTimeout(timer))
}

async function refuse(text: string): Promise<never> {
  throw new ClusteredServerError('CLUSTERED_SERVER_SINGLE_PROCESS', `${text}: ask for 2 workers or more`)
}

import { EventEmitter } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { ClusteredServer, ClusteredServerEvents, ClusterStatus } from './clustered-server.ts'
import { Connections } from './connections.ts'
import { ClusteredServerError } from './errors.ts'
import { type App, loadApp } from './load-app.ts'
import type { ResolvedOptions } from './options.ts'

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
  static async start({ app: url, port, host, env, drainTimeout }: ResolvedOptions): Promise<SingleProcess> {
    Object.assign(process.env, typeof env === 'function' ? env() : env)
    const app = await loadApp(url, () => undefined)
    const connections = new Connections(app.server)
    try {
      // As listen() without a host does, for apps whose own default is another one.
      await app.listen({ port, host: host ?? '::' })
    } catch (error) {
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

  kill(): void {
    this.#closed ??= Promise.resolve()
    this.#connections.destroy()
    void this.#app.close()
  }

  async #close(): Promise<void> {
    this.emit('closing')
    await this.#connections.drain(false, this.#drainTimeout)
    await this.#app.close()
    this.#connections.destroy()
    this.emit('closed')
  }
}

async function refuse(text: string): Promise<never> {
  throw new ClusteredServerError('CLUSTERED_SERVER_SINGLE_PROCESS', `${text}: ask for 2 workers or more`)
}

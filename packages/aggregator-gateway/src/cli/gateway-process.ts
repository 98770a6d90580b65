// A gateway of a configuration file, which is read again on SIGHUP, and when it changes with `--watch`.

import { type FSWatcher, readFileSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { reasonOf } from 'checked-options'
import type { FastifyInstance } from 'fastify'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { createAggregatorGateway } from '../create-aggregator-gateway.ts'
import { InvalidConfigError } from '../errors.ts'
import { finishEndlessStreams } from '../pass-through/open-streams.ts'
import { ReloadableServer } from './reloadable-server.ts'

/** Milliseconds after a change of the file. Editors write it in several steps. */
const SETTLE = 100

export interface ProcessOptions {
  /** Path of the configuration file. */
  readonly path: string
  readonly port: number | undefined
  readonly host: string | undefined
  /** Reload whenever the file changes. */
  readonly isWatched: boolean
  /** Prints a line. */
  readonly print: (line: string) => void
  readonly warn: (line: string) => void
}

/** A configuration whose app is ready. */
interface Built {
  readonly config: LoadedConfig
  readonly app: FastifyInstance
}

/** @throws AGGREGATOR_GATEWAY_INVALID_CONFIG */
export async function build(path: string): Promise<Built> {
  const config = await loadConfig(path, process.env)
  try {
    const app = await createAggregatorGateway(config.options)
    await app.ready()
    return { config, app }
  } catch (cause) {
    throw Object.assign(new InvalidConfigError(`${basename(path)}: ${reasonOf(cause)}`), { cause })
  }
}

export class GatewayProcess {
  readonly #options: ProcessOptions
  readonly #server: ReloadableServer
  #config: LoadedConfig
  #watcher: FSWatcher | undefined
  #settling: NodeJS.Timeout | undefined
  /** The text of the file, while it is watched. */
  #text: string | undefined
  /** Reloads run one after the other. */
  #reloading: Promise<void> = Promise.resolve()

  private constructor(options: ProcessOptions, { config, app }: Built) {
    this.#options = options
    this.#config = config
    this.#server = new ReloadableServer(app)
  }

  static async start(options: ProcessOptions): Promise<GatewayProcess> {
    const { path, isWatched, print } = options
    const text = isWatched ? textOf(path) : undefined
    const built = await build(path)
    const gateway = new GatewayProcess(options, built)
    const { port, host } = built.config
    const url = await gateway.#server.listen(options.port ?? port, options.host ?? host)
    if (isWatched) gateway.#watch(text)
    print(`listening on ${url}`)
    return gateway
  }

  /**
   * Reloads whenever the file has another text than before the start. Its folder is watched: editors replace files, and
   * Kubernetes links.
   */
  #watch(text: string | undefined): void {
    this.#text = text
    const settle = (): void => {
      clearTimeout(this.#settling)
      this.#settling = setTimeout(() => this.#reloadChanged(), SETTLE)
    }
    this.#watcher = watch(dirname(this.#options.path), settle)
    // The file may have changed between its reading and now.
    settle()
  }

  #reloadChanged(): void {
    const text = textOf(this.#options.path)
    if (text === undefined || text === this.#text) return
    this.#text = text
    this.reload()
  }

  reload(): void {
    this.#reloading = this.#reloading.then(() => this.#reloadNow())
  }

  async #reloadNow(): Promise<void> {
    const { path, print, warn } = this.#options
    try {
      const { config, app } = await build(path)
      if (config.port !== this.#config.port || config.host !== this.#config.host) {
        warn('port and host change with a restart only')
      }
      this.#config = config
      this.#server.replace(app)
      print(`reloaded ${basename(path)}`)
    } catch (error) {
      warn(`not reloaded: ${(error as Error).message}`)
    }
  }

  async stop(): Promise<void> {
    clearTimeout(this.#settling)
    this.#watcher?.close()
    await this.#reloading
    finishEndlessStreams()
    await this.#server.stop(this.#config.stopTimeout)
  }
}

/** Undefined while the file is being replaced. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

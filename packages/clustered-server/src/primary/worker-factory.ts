import { PRIMARY_PID, WORKER_ID } from '../ipc/messages.ts'
import { SharedStats } from '../ipc/shared-stats.ts'
import { AppMetricsOfWorkers } from '../observability/app-metrics.ts'
import type { ResolvedOptions } from '../options/types.ts'
import { heapArguments } from '../platform/memory-limit.ts'
import { Releases } from '../releases/releases.ts'
import { WorkerCode } from '../releases/worker-code.ts'
import { BuildSockets } from './build-sockets.ts'
import { withInspectPort, withInspectPortInOptions } from './inspect-port.ts'
import { LeaderElection } from './leader-election.ts'
import type { Listener } from './listener.ts'
import { SharedSockets } from './shared-sockets.ts'
import { WorkerHandle } from './worker-handle.ts'

/** Starts workers, and connects each of them to the resources that all share. */
export class WorkerFactory {
  readonly appMetrics: AppMetricsOfWorkers = new AppMetricsOfWorkers()
  readonly releases: Releases
  readonly #options: ResolvedOptions
  readonly #listener: Listener
  readonly #sharedStats = SharedStats.create()
  readonly #code: WorkerCode
  readonly #sharedSockets = new SharedSockets()
  readonly #leaderElection = new LeaderElection()
  readonly #buildSockets: BuildSockets | undefined
  #lastId = 0

  constructor(options: ResolvedOptions, listener: Listener) {
    this.#options = options
    this.#listener = listener
    this.releases = new Releases(options, options.logger)
    this.#code = new WorkerCode(options.logger)
    this.#buildSockets = options.linger && new BuildSockets()
  }

  /** @param poolSize number of workers that share the memory of the container */
  create(generation: number, poolSize: number): WorkerHandle {
    const { execArgv, args = [], env, logPrefix } = this.#options
    const { app, cwd } = this.releases.of(generation)
    const { readyPath, drainTimeout, startTimeout, blockedLoopReport, sticky } = this.#options
    const { host, port, path, fd } = this.#listener
    const id = ++this.#lastId
    // PORT is for apps that listen by themselves.
    const variables: NodeJS.ProcessEnv = {
      ...process.env,
      PORT: path ?? String(port),
      ...(typeof env === 'function' ? env(generation) : env),
    }
    const nodeOptions = withInspectPortInOptions(variables['NODE_OPTIONS'], id)
    const worker = new WorkerHandle({
      ...{ id, generation, app, cwd, host, port, path, fd },
      entry: this.#code.entry(),
      ...{ readyPath, drainTimeout, startTimeout, blockedLoopReport, sticky },
      sharedStats: this.#sharedStats,
      buildSocket: this.#buildSockets?.of(id),
      hasMetrics: this.#options.admin !== undefined,
      args,
      outputPrefix: logPrefix ? `[${id}] ` : undefined,
      env: {
        ...variables,
        ...(nodeOptions !== undefined && { NODE_OPTIONS: nodeOptions }),
        [WORKER_ID]: String(id),
        [PRIMARY_PID]: String(process.pid),
      },
      execArgv: [...withInspectPort(execArgv, id), ...heapArguments(poolSize, execArgv, variables['NODE_OPTIONS'])],
    })
    this.#leaderElection.add(worker)
    if (this.#options.admin) this.appMetrics.add(worker)
    this.#shareSockets(worker)
    return worker
  }

  /** Closes the sockets beside that of the server. */
  closeSockets(): void {
    this.#sharedSockets.close()
  }

  /** To be called when all workers have ended. */
  close(): void {
    this.#sharedStats?.close()
    this.#code.close()
    this.#buildSockets?.close()
  }

  #shareSockets(worker: WorkerHandle): void {
    worker.on('share', async (request, query) => {
      const socket = await this.#sharedSockets.share(worker, query)
      if (socket !== undefined) worker.share(request, socket)
    })
    worker.on('unshare', (query) => this.#sharedSockets.release(worker, query))
    worker.once('exit', () => this.#sharedSockets.releaseAll(worker))
    worker.once('active', () => this.#sharedSockets.sweep())
  }
}

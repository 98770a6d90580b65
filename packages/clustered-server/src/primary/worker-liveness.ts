import { now } from '../ipc/shared-stats.ts'
import { coreTime } from '../platform/proc-stat.ts'

/** Milliseconds without a heartbeat after which the reason is examined: a worker sends one every 100 ms. */
const SILENT_MS = 250
/** Minimum share of one core with which a silent worker counts as running. */
const MIN_CORE_SHARE = 2 / 3

/** Heartbeats of a worker, and whether its event loop is blocked. */
export class Liveness {
  #lastHeartbeatAt = now()
  /** When the silence was noticed, and the CPU time of the worker by then, in milliseconds. */
  #silence: { readonly at: number; readonly ran: number } | undefined

  /** Records a sign of life. */
  markAlive(at: number = now()): void {
    this.#lastHeartbeatAt = Math.max(this.#lastHeartbeatAt, at)
    this.#silence = undefined
  }

  /** Ignores all later signs of life: the worker is about to be killed. */
  giveUp(): void {
    this.#lastHeartbeatAt = Infinity
  }

  /** Whether the worker has been silent for longer than usual. Connections given to it may have to wait. */
  get isSilent(): boolean {
    return this.#lastHeartbeatAt === Infinity || now() - this.#lastHeartbeatAt > SILENT_MS
  }

  /**
   * Whether the worker has been silent for longer than `timeout` milliseconds and had a core meanwhile. On an overloaded
   * machine a worker that only waits for a core is not blocked.
   */
  isBlocked(timeout: number, pid: number | undefined): boolean {
    const at = now()
    const silentMs = at - this.#lastHeartbeatAt
    if (silentMs < SILENT_MS || pid === undefined) return silentMs > timeout
    const { ran, isRunnable } = coreTime(pid) ?? { ran: Infinity, isRunnable: false }
    const noticed = (this.#silence ??= { at, ran })
    const [elapsed, ranSince] = [at - noticed.at, ran - noticed.ran]
    const hasCore = elapsed > timeout / 4 && ranSince > elapsed * MIN_CORE_SHARE
    return silentMs > timeout && (!isRunnable || hasCore || ranSince > timeout / 2)
  }
}

import type { ClusteredServer } from './types.ts'
import type { ResolvedOptions } from './options/options.ts'

/** Which hook has failed: `onShutdown` is not among them, as `close()` rejects with what that throws. */
export type HookName = 'onWorkerStart' | 'onReady'

/** Calls the hooks when it is time. What they throw is told by `hookFailed`, and the server goes on. */
export function callHooks(server: ClusteredServer, { onWorkerStart, onReady }: ResolvedOptions): void {
  const call = async (hook: HookName, work: () => void | Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      server.emit('hookFailed', { hook, error })
    }
  }
  server.on('workerStart', (worker) => void call('onWorkerStart', () => onWorkerStart(worker)))
  server.on('ready', () => void call('onReady', () => onReady(server)))
}

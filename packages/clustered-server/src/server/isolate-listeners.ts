import { captureRejectionSymbol, type EventEmitter } from 'node:events'
import type { Logger } from '../options/types.ts'
import type { ClusteredServerEvents } from '../server-types.ts'

type Server = EventEmitter<ClusteredServerEvents>

/** Called by an emitter with `captureRejections` for a listener whose promise rejects. */
type OnRejection = (error: unknown, event: string | symbol) => void

/**
 * Logs listeners that throw or reject, so that they end neither a reload nor the process. Without a logger they become
 * warnings of the process. Rejections need an emitter with `captureRejections`.
 */
export function isolateListeners(server: Server, logger: Logger | undefined): void {
  const report: OnRejection = (error, event) => {
    const err = error instanceof Error ? error : new Error(String(error))
    const text = `A listener of the event "${String(event)}" failed: ${err.message}`
    if (logger) logger.error({ err, event: String(event) }, text)
    else process.emitWarning(text, 'ClusteredServerWarning')
  }
  const emit = server.emit.bind(server) as (event: string | symbol, ...args: unknown[]) => boolean
  const isolated = (event: string | symbol, ...args: unknown[]): boolean => {
    try {
      return emit(event, ...args)
    } catch (error) {
      report(error, event)
      return true
    }
  }
  Object.assign(server, { emit: isolated, [captureRejectionSymbol]: report })
}

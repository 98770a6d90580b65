import type { RequestListener } from 'node:http'
import { importFrom } from './import-from.ts'

/** An app that responds to a `Request` with a `Response`, as Hono's do. */
interface FetchApp {
  fetch: (...args: never[]) => Response | Promise<Response>
}

export function isFetchApp(made: unknown): made is FetchApp {
  return typeof made === 'object' && made !== null && 'fetch' in made && typeof made.fetch === 'function'
}

/**
 * The request listener of such an app, by the adapter that the app's folder has installed.
 *
 * @throws {ClusteredServerError} `CLUSTERED_SERVER_INVALID_APP` when there is no `@hono/node-server`
 */
export async function listenerOf(app: FetchApp, url: string): Promise<RequestListener> {
  const adapter = (await importFrom(url, '@hono/node-server', 'an app with fetch(), such as of Hono')) as {
    getRequestListener: (fetch: FetchApp['fetch']) => RequestListener
  }
  return adapter.getRequestListener((...args) => app.fetch(...args))
}

import type { RequestListener } from 'node:http'
import { importFrom } from './import-from.ts'

/** An app that responds to a `Request` with a `Response`, such as Hono. */
interface FetchApp {
  fetch: (...args: never[]) => Response | Promise<Response>
}

export function isFetchApp(made: unknown): made is FetchApp {
  return typeof made === 'object' && made !== null && 'fetch' in made && typeof made.fetch === 'function'
}

/**
 * Creates the request listener of such an app, by the adapter installed beside the app.
 *
 * @throws CLUSTERED_SERVER_INVALID_APP when `@hono/node-server` is not installed
 */
export async function listenerOf(app: FetchApp, url: string): Promise<RequestListener> {
  const adapter = (await importFrom(url, '@hono/node-server', 'an app with fetch(), such as of Hono')) as {
    getRequestListener: (fetch: FetchApp['fetch']) => RequestListener
  }
  return adapter.getRequestListener((...args) => app.fetch(...args))
}

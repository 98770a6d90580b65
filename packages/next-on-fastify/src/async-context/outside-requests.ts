import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Runs a function outside of the async context of a request. Otherwise a timer would retain the request, its response and
 * its headers until it fires.
 */
export const outsideRequests: <Result>(run: () => Result) => Result = AsyncLocalStorage.snapshot()

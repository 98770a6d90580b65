import { AsyncLocalStorage } from 'node:async_hooks'

/** Runs what outlives the request that begins it: a timer holds the request, its response and its headers until it fires. */
export const outsideRequests: <Result>(run: () => Result) => Result = AsyncLocalStorage.snapshot()

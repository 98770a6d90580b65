/**
 * Protocol of the requests. `http1`: HTTP/1.1. `http2`: HTTP/2 without TLS. `websocket`: each message is a request, and the
 * next message from the server is its response.
 */
export type Protocol = (typeof PROTOCOLS)[number]
export const PROTOCOLS = ['http1', 'http2', 'websocket'] as const

/** Requests per second: a number, or a share of the highest rate that the subject serves, such as `'50%'`. */
export type Rate = number | `${number}%`

/** A rate that changes linearly over the duration. */
export interface RateRamp {
  /** Rate at the beginning. */
  from: Rate
  /** Rate at the end. */
  to: Rate
}

/** Virtual users. Their number changes linearly from that of the stage before, or from 0. */
export interface LoadStage {
  /** Users at the end of the stage. */
  users: number
  /** Length of the stage. With 0, the number of users changes at once. */
  duration: number
}

/** The current step of a load, sent to `onProgress`. */
export interface LoadProgress {
  step: 'starting' | 'warming' | 'finding the ceiling' | 'measuring'
  /** Load of the step, such as `2000/s` or `50 users`. */
  load: string
  /** Length of the step in milliseconds, if it is known. */
  duration?: number
}

/** Options of {@link load}. Times are in milliseconds. */
export interface LoadOptions {
  /** Path and query string. @default '/' */
  path?: string
  /** HTTP method. @default 'GET' */
  method?: string
  /** Request headers. @default {} */
  headers?: Readonly<Record<string, string>>
  /** Request body. With WebSocket, the message. @default none */
  body?: string
  /** Protocol of the requests. @default 'http1' */
  protocol?: Protocol
  /** Expected status. Responses with another one have failed. @default any 2xx */
  status?: number
  /** Arrival rates in requests per second: one, or several that are measured one after the other. A share such as `'50%'` is one of the ceiling, the highest rate that the subject serves. An object with `from` and `to` is a ramp. @default the shares 10%, 50% and 90% */
  rate?: Rate | RateRamp | readonly (Rate | RateRamp)[]
  /** Length of each rate. @default 10000 */
  duration?: number
  /** Virtual users, instead of rates. Each sends its next request after the response to the one before. @default none */
  stages?: readonly LoadStage[]
  /** Factor of the durations of `stages`. With 0.1, a load of 70 seconds takes 7, and keeps its shape. @default 1 */
  timeScale?: number
  /** Mean pause of a virtual user between a response and its next request. Each pause varies by up to a half. @default 0 */
  pause?: number
  /** Whether connections are kept open. Otherwise each request opens its own. @default true */
  keepAlive?: boolean
  /** Maximum open connections of a rate. A request that finds none free waits, and its wait is part of its latency. A virtual user has its own connection. @default 1000 */
  connections?: number
  /** Load before the measurement that does not count. @default 2000 */
  warmUp?: number
  /** Time from the intended start of a request after which it has failed. @default 10000 */
  requestTimeout?: number
  /** Maximum time until the subject responds. @default 20000 */
  startTimeout?: number
  /** Time between SIGTERM and SIGKILL when the subject is stopped. @default 3000 */
  stopTimeout?: number
  /** Base directory of the subject's relative path. @default process.cwd() */
  cwd?: string
  /** Ends the load and its server when it aborts. Its reason is thrown. @default none */
  signal?: AbortSignal
  /** Called before each step. @default none */
  onProgress?: (progress: LoadProgress) => void
}

// Pauses the clients of autocannon, which has no public way to do so: only this file uses its internals. Before the
// gate opens, each client sends one request: a Node server accepts one connection per event-loop tick, and full load
// delays the last ones by more than 10 s. No request is sent on a connection that is about to close. See
// docs/measurements.md#gated-start

const SEND = '_doRequest'
const CONNECT = '_connect'
/** Requests without a response, with their start times. */
const QUEUE = 'pipelinedRequests'

/**
 * The used parts of a client. Its methods and its queue are undocumented: the package depends on the tested version of
 * autocannon, and checks that they exist.
 */
interface GatedClient {
  [SEND]: () => void
  [CONNECT]: () => void
  /** Bytes of the first response so far. */
  readonly [QUEUE]: { clear(): void; peek(): { readonly bytes: number } | undefined }
  on(event: 'connError', listener: () => void): unknown
  on(event: 'headers', listener: (head: { readonly shouldKeepAlive?: boolean }) => void): unknown
  on(event: 'response', listener: () => void): unknown
}

function isKnown(client: unknown): client is GatedClient {
  const { [SEND]: send, [CONNECT]: connect, [QUEUE]: queue } = client as Partial<GatedClient>
  const isQueue = typeof queue?.clear === 'function' && typeof queue.peek === 'function'
  return typeof send === 'function' && typeof connect === 'function' && isQueue
}

/** Methods whose requests may be sent again if a connection ends without a response: RFC 9110, section 9.2.2. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])

/** A client, and the requests on its connection. */
interface ClientState {
  readonly client: GatedClient
  /** Requests that wait for the gate. */
  held: number
  pending: number
  /** Whether the client has had a response. */
  isConnected: boolean
  /** Whether the client has connected at all. */
  hasConnected: boolean
  /** The server announced that this response is the connection's last. */
  isLast: boolean
  /** Whether the connection has had a response. */
  isUsed: boolean
  /** The connection was idle before its pending requests, so the server may have closed it at the same time. */
  wasIdle: boolean
  /** Its pending requests were sent before the gate opened last, and none has a response yet. */
  isStuck: boolean
  readonly send: () => void
}

export class RequestGate {
  #isOpen = false
  /** Whether it has never been open. */
  #isNew = true
  #pending = 0
  #lost = 0
  #retried = 0
  #reconnects = 0
  /** The connection that ends now had been idle. */
  #isRetrying = false
  /** Clients without a first response. */
  #unconnected: number
  /** Called when the last pending request has a response or is lost. */
  onIdle = (): void => {}
  /** Called when a client connects again. */
  onReconnect = (_client: unknown): void => {}
  readonly #clients: ClientState[] = []
  readonly #allConnected = Promise.withResolvers<void>()
  readonly #isIdempotent: boolean

  constructor(clients: number, method: string) {
    this.#unconnected = clients
    this.#isIdempotent = IDEMPOTENT.has(method)
  }

  /** Settles when each client has had a response. */
  get allConnected(): Promise<void> {
    return this.#allConnected.promise
  }

  /** autocannon's option of this name, which is called before a client connects. */
  readonly setupClient = (client: unknown): void => {
    if (!isKnown(client)) throw new TypeError('this version of autocannon is not supported, use 9.0.0')
    const send = client[SEND].bind(client)
    const connect = client[CONNECT].bind(client)
    const state: ClientState = {
      ...{ client, held: 0, pending: 0, isConnected: false, hasConnected: false },
      ...{ isLast: false, isUsed: false, wasIdle: false, isStuck: false },
      send: (): void => {
        state.pending++
        this.#pending++
        send()
      },
    }
    this.#clients.push(state)
    client[SEND] = () => {
      // The client sends again as soon as it has reconnected.
      if (state.isLast) return
      if (this.#isOpen || (this.#isNew && !state.isConnected && state.pending === 0)) state.send()
      else state.held++
    }
    client[CONNECT] = () => {
      this.#beginConnection(state)
      connect()
    }
    // This listener is the first one, before that of the run, which reports an error of each request.
    client.on('connError', () => (this.#isRetrying = this.#canRetry(state)))
    client.on('headers', ({ shouldKeepAlive }) => (state.isLast = shouldKeepAlive === false))
    client.on('response', () => this.#endRequest(state))
  }

  /** Pending requests on the old connection get no response. The client sends as many over the new one. */
  #beginConnection(state: ClientState): void {
    if (state.hasConnected && !state.isLast) this.#reconnects++
    if (this.#canRetry(state)) this.#retried += state.pending
    else this.#lost += state.pending
    this.#isRetrying = false
    this.#pending -= state.pending
    Object.assign(state, { held: 0, pending: 0, isLast: false, isUsed: false, wasIdle: false, isStuck: false })
    // Otherwise the next response would be matched with them and their start times.
    state.client[QUEUE].clear()
    if (this.#pending === 0) this.onIdle()
    if (state.hasConnected) this.onReconnect(state.client)
    state.hasConnected = true
  }

  #endRequest(state: ClientState): void {
    if (!state.isConnected) {
      state.isConnected = true
      if (--this.#unconnected === 0) this.#allConnected.resolve()
    }
    state.pending--
    state.isUsed = true
    state.wasIdle = state.isStuck = false
    this.#pending--
    if (this.#pending === 0) this.onIdle()
  }

  /**
   * Whether the server closed an idle connection while requests were on their way: none of them had an effect. A client may
   * send them again, and all common ones do: RFC 9112, section 9.3.1.
   */
  #canRetry({ client, pending, wasIdle }: ClientState): boolean {
    return pending > 0 && wasIdle && this.#isIdempotent && !client[QUEUE].peek()?.bytes
  }

  /** Requests without a response. */
  get pending(): number {
    return this.#pending
  }

  /** Requests without a response that were sent before the gate opened last. */
  get stuck(): number {
    return this.#clients.reduce((sum, { isStuck, pending }) => sum + (isStuck ? pending : 0), 0)
  }

  /** How often a client has connected again without an announced end of its connection, for example after a keep-alive timeout. */
  get reconnects(): number {
    return this.#reconnects
  }

  /** Requests that were sent again, because the server had closed their idle connection. */
  get retried(): number {
    return this.#retried
  }

  /** Whether the error of a request that is reported now is none, because the request is sent again. */
  get isRetrying(): boolean {
    return this.#isRetrying
  }

  /** Requests whose connection ended before their response. */
  get lost(): number {
    return this.#lost
  }

  open(): void {
    this.#isOpen = true
    this.#isNew = false
    for (const state of this.#clients) {
      const { held } = state
      state.held = 0
      state.isStuck = state.pending > 0
      state.wasIdle = state.isUsed && !state.isStuck
      for (let count = 0; count < held; count++) state.send()
    }
  }

  close(): void {
    this.#isOpen = false
  }
}

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
  readonly [QUEUE]: { clear(): void }
  on(event: 'headers', listener: (head: { readonly shouldKeepAlive?: boolean }) => void): unknown
  on(event: 'response', listener: () => void): unknown
}

function isKnown(client: unknown): client is GatedClient {
  const { [SEND]: send, [CONNECT]: connect, [QUEUE]: queue } = client as Partial<GatedClient>
  return typeof send === 'function' && typeof connect === 'function' && typeof queue?.clear === 'function'
}

export class RequestGate {
  #isOpen = false
  /** Whether it has never been open. */
  #isNew = true
  #pending = 0
  #lost = 0
  #connects = 0
  /** Clients without a first response. */
  #unconnected: number
  /** Called when the last pending request has a response or is lost. */
  onIdle = (): void => {}
  readonly #clients: { held: number; send: () => void }[] = []
  readonly #allConnected = Promise.withResolvers<void>()

  constructor(clients: number) {
    this.#unconnected = clients
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
    const state = {
      held: 0,
      pending: 0,
      isConnected: false,
      /** The server announced that this response is the connection's last. */
      isLast: false,
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
      this.#connects++
      // Pending requests on the old connection get no response.
      this.#lost += state.pending
      this.#pending -= state.pending
      state.pending = 0
      state.held = 0
      state.isLast = false
      // Otherwise the next response would be matched with them and their start times.
      client[QUEUE].clear()
      if (this.#pending === 0) this.onIdle()
      connect()
    }
    client.on('headers', ({ shouldKeepAlive }) => (state.isLast = shouldKeepAlive === false))
    client.on('response', () => {
      if (!state.isConnected) {
        state.isConnected = true
        if (--this.#unconnected === 0) this.#allConnected.resolve()
      }
      state.pending--
      this.#pending--
      if (this.#pending === 0) this.onIdle()
    })
  }

  /** Requests without a response. */
  get pending(): number {
    return this.#pending
  }

  /** How often a client has connected. */
  get connects(): number {
    return this.#connects
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
      for (let count = 0; count < held; count++) state.send()
    }
  }

  close(): void {
    this.#isOpen = false
  }
}

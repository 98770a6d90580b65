// Holds back the requests of autocannon's clients, and lets them go on. Before it opens for the first time, each may ask once:
// in a turn of its event loop, a server of Node takes in one connection (libuv 1.45 and later), and answers all that the
// others have asked. With 200 connections that ask 100 times at once, turns became so long that the last ones were not taken
// in for more than 10 s. And nothing is sent over a connection that the server said it would close: autocannon would, and
// half of its requests had no answer where each connection is closed after one.
//
// autocannon has no public way to pause: its clients send the next request as soon as they have an answer. Here each
// client's own way of sending is put behind a gate, which is the one place that knows what is internal to autocannon.

const SEND = '_doRequest'
const CONNECT = '_connect'
/** Requests that have no answer yet, with their begin. */
const QUEUE = 'pipelinedRequests'

/**
 * What is used of a client. Its methods and its queue are not documented: the package depends on the one version of
 * autocannon that is tested, and they are looked for before they are used.
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

export class Gate {
  #isOpen = false
  /** It has never been open. */
  #isNew = true
  #underWay = 0
  #lost = 0
  #unwelcomed: number
  /** Called when the last request that was under way is answered or lost. */
  onIdle = (): void => {}
  readonly #clients: { held: number; send: () => void }[] = []
  readonly #welcomed = Promise.withResolvers<void>()

  /** For so many clients. */
  constructor(clients: number) {
    this.#unwelcomed = clients
  }

  /** Settles when each of them has had an answer. */
  get welcomed(): Promise<void> {
    return this.#welcomed.promise
  }

  /** For autocannon's option of this name, which is called before a client connects. */
  readonly setupClient = (client: unknown): void => {
    if (!isKnown(client))
      throw new TypeError('the clients of this version of autocannon cannot be held back: use 9.0.0')
    const send = client[SEND].bind(client)
    const connect = client[CONNECT].bind(client)
    const state = {
      held: 0,
      underWay: 0,
      isWelcomed: false,
      /** The server said that this answer is the connection's last. */
      isLast: false,
      send: (): void => {
        state.underWay++
        this.#underWay++
        send()
      },
    }
    this.#clients.push(state)
    client[SEND] = () => {
      // The client asks as soon as it has connected again.
      if (state.isLast) return
      if (this.#isOpen || (this.#isNew && !state.isWelcomed && state.underWay === 0)) state.send()
      else state.held++
    }
    client[CONNECT] = () => {
      // What was under way on the connection that there was will not be answered.
      this.#lost += state.underWay
      this.#underWay -= state.underWay
      state.underWay = 0
      state.held = 0
      state.isLast = false
      // Or the next answer would be taken for theirs, and their begin for its own.
      client[QUEUE].clear()
      if (this.#underWay === 0) this.onIdle()
      connect()
    }
    client.on('headers', ({ shouldKeepAlive }) => (state.isLast = shouldKeepAlive === false))
    client.on('response', () => {
      if (!state.isWelcomed) {
        state.isWelcomed = true
        if (--this.#unwelcomed === 0) this.#welcomed.resolve()
      }
      state.underWay--
      this.#underWay--
      if (this.#underWay === 0) this.onIdle()
    })
  }

  /** Requests that have no answer yet. */
  get underWay(): number {
    return this.#underWay
  }

  /** Requests whose connection ended before they were answered. */
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

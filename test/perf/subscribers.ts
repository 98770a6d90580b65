import { connect, type Socket } from 'node:net'

/** A subscription that stays open. */
export interface Subscription {
  readonly path: string
  /** The messages of a subscription that has no more for now. */
  readonly until: string
}

/** Concurrent subscribers. */
const AT_ONCE = 20

/** Clients with an open subscription. They are sockets: thousands of HTTP clients would disturb each other. */
export class Subscribers {
  readonly #port: number
  readonly #subscription: Subscription
  readonly #sockets = new Set<Socket>()

  constructor(port: number, subscription: Subscription) {
    this.#port = port
    this.#subscription = subscription
  }

  /** Connected subscribers. */
  get count(): number {
    return this.#sockets.size
  }

  /** Adds this many subscribers, and waits until each has all messages. */
  async add(count: number): Promise<void> {
    let left = count
    const inTurn = async (): Promise<void> => {
      while (left-- > 0) await this.#addOne()
    }
    await Promise.all(Array.from({ length: AT_ONCE }, inTurn))
  }

  leave(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  #addOne(): Promise<void> {
    const { path, until } = this.#subscription
    return new Promise((resolve, reject) => {
      let heard = ''
      const socket = connect(this.#port, '127.0.0.1')
      this.#sockets.add(socket)
      socket
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          heard += chunk
          if (heard.includes(until)) resolve()
        })
        .on('error', reject)
        .on('close', () => {
          this.#sockets.delete(socket)
          reject(new Error(`A subscription to ${path} ended after:\n${heard}`))
        })
        .write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)
    })
  }
}

import { connect, type Socket } from 'node:net'

/** A subscription that stays open. */
export interface Subscription {
  readonly path: string
  /** What it has said when it has nothing more to say for now. */
  readonly until: string
}

/** How many subscribe at the same time. */
const AT_ONCE = 20

/** Clients that hold a subscription open. They are sockets: thousands of HTTP clients would be in their own way. */
export class Subscribers {
  readonly #port: number
  readonly #subscription: Subscription
  readonly #sockets = new Set<Socket>()

  constructor(port: number, subscription: Subscription) {
    this.#port = port
    this.#subscription = subscription
  }

  /** Those that are connected. */
  get count(): number {
    return this.#sockets.size
  }

  /** Adds so many, each of which has heard all there is for now. */
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

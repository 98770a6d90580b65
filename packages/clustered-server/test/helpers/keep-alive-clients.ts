import { Agent, get } from 'node:http'
import { setTimeout as after } from 'node:timers/promises'
import type { ClusteredServer } from '../../src/index.ts'

/** What clients have seen. */
export interface Seen {
  answers: number
  /** Whoever loses one opens another. */
  connections: number
  readonly failures: string[]
}

/** Clients with a connection each, which ask again and again, with a pause, until it is over. */
export class KeepAliveClients {
  readonly seen: Seen = { answers: 0, connections: 0, failures: [] }
  readonly #over = new AbortController()
  readonly #agent: Agent
  readonly #ended: Promise<unknown>

  constructor(server: ClusteredServer, clients: number, pause: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: clients })
    this.#ended = Promise.all(
      Array.from({ length: clients }, async () => {
        while (!this.#over.signal.aborted) {
          await this.#ask(server)
          await after(pause)
        }
      }),
    )
  }

  /** Resolves with what they have seen, once all have their last answer. */
  async end(): Promise<Seen> {
    this.#over.abort()
    await this.#ended
    this.#agent.destroy()
    return this.seen
  }

  #ask({ host, port }: ClusteredServer): Promise<void> {
    return new Promise((resolve) => {
      const request = get({ host, port, agent: this.#agent }, (response) => {
        response.resume().once('close', () => {
          if (response.complete && response.statusCode === 200) this.seen.answers++
          else this.seen.failures.push(`status ${response.statusCode}, complete: ${response.complete}`)
          resolve()
        })
      })
      request.once('error', ({ message }) => {
        this.seen.failures.push(message)
        resolve()
      })
      request.once('socket', () => {
        if (!request.reusedSocket) this.seen.connections++
      })
    })
  }
}

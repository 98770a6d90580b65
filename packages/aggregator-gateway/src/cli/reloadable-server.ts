// One HTTP server whose app can be replaced. A request stays with the app that it came to, which is closed after the last.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'

/** As Fastify's: longer than the idle timeout of most load balancers. */
const KEEP_ALIVE_TIMEOUT = 72_000

interface Generation {
  readonly app: FastifyInstance
  running: number
  /** Called when the last request has ended, once it was replaced. */
  drained: (() => void) | undefined
}

export class ReloadableServer {
  readonly #server: Server
  #current: Generation

  /** The app must be ready. */
  constructor(app: FastifyInstance) {
    this.#current = { app, running: 0, drained: undefined }
    this.#server = createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT }, (request, response) => {
      serve(this.#current, request, response)
    })
  }

  /** Returns the URL. */
  async listen(port: number, host: string): Promise<string> {
    this.#server.listen(port, host)
    await once(this.#server, 'listening')
    const { address, family, port: own } = this.#server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${own}`
  }

  /** Serves all further requests by another app, which must be ready. */
  replace(app: FastifyInstance): void {
    const last = this.#current
    this.#current = { app, running: 0, drained: undefined }
    const close = async (): Promise<void> => {
      await drain(last)
      await last.app.close()
    }
    close().catch((err: unknown) => last.app.log.error({ err }, 'the last configuration was not closed'))
  }

  /** Stops to accept connections, and waits for running requests. After the timeout, it ends them. */
  async stop(timeout: number): Promise<void> {
    this.#server.close()
    this.#server.closeIdleConnections()
    const timer = setTimeout(() => this.#server.closeAllConnections(), timeout)
    await drain(this.#current)
    clearTimeout(timer)
    this.#server.closeIdleConnections()
    await this.#current.app.close()
  }
}

function serve(generation: Generation, request: IncomingMessage, response: ServerResponse): void {
  generation.running++
  response.once('close', () => {
    generation.running--
    if (generation.running === 0) generation.drained?.()
  })
  generation.app.routing(request, response)
}

async function drain(generation: Generation): Promise<void> {
  if (generation.running > 0) await new Promise<void>((resolve) => (generation.drained = resolve))
}

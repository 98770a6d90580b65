import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import type { AdminAddress, ClusteredServer } from '../types.ts'
import { EventCounts } from './event-counts.ts'
import { cannotListen } from '../errors.ts'
import { type AppMetrics, MetricsText } from './metrics-text.ts'
import type { ResolvedOptions } from '../options/options.ts'

const PATHS = '/live, /ready, /status, /metrics'

/** Answers probes, and tells the status and metrics, on ports of its own. */
export class Admin {
  readonly address: AdminAddress
  readonly #servers: readonly Server[]
  #server: (ClusteredServer & { readonly appMetrics: AppMetrics }) | undefined
  #counts: EventCounts | undefined
  #metrics: MetricsText | undefined

  private constructor(http: Server, agent: Server | undefined) {
    this.#servers = agent ? [http, agent] : [http]
    const { address, port } = http.address() as AddressInfo
    this.address = { host: address, port, agentPort: (agent?.address() as AddressInfo | undefined)?.port }
  }

  /** @throws {ClusteredServerError} `CLUSTERED_SERVER_CANNOT_LISTEN` */
  static async start({ port, host, agentPort }: NonNullable<ResolvedOptions['admin']>): Promise<Admin> {
    let admin: Admin | undefined
    const http = await listen(
      createHttpServer((request, response) => void admin!.#answer(request, response)),
      { port, host },
    )
    try {
      const agent =
        agentPort === undefined
          ? undefined
          : await listen(
              createServer((socket) => {
                socket.on('error', () => {})
                socket.end(admin!.agentAnswer())
                // What it sends is of no interest, but its end is only heard of by reading.
                socket.resume()
              }),
              { port: agentPort, host },
            )
      admin = new Admin(http, agent)
      return admin
    } catch (error) {
      http.close()
      throw error
    }
  }

  /** Tells of this server from now on. */
  show(server: ClusteredServer & { readonly appMetrics: AppMetrics }): void {
    this.#server = server
    this.#counts = new EventCounts(server)
    this.#metrics = new MetricsText(server, this.#counts)
    server.once('closed', () => this.close())
  }

  close(): void {
    for (const server of this.#servers) server.close()
  }

  /** What HAProxy's `agent-check` is told: to take connections, or to bring no new ones. */
  agentAnswer(): string {
    return this.#server?.status().ready ? 'ready up 100%\n' : 'drain\n'
  }

  async #answer({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
    // A connection that stays would keep this process from its end.
    response.setHeader('connection', 'close')
    if (method !== 'GET' && method !== 'HEAD') return answer(response, 405, 'GET and HEAD are what is allowed\n')
    switch (url?.split('?', 1)[0]) {
      case '/live':
        return answer(response, 200, 'live\n')
      case '/ready': {
        const ready = this.#server?.status().ready ?? false
        return answer(response, ready ? 200 : 503, ready ? 'ready\n' : 'not ready\n')
      }
      case '/status':
        return answer(response, 200, `${JSON.stringify(this.#status())}\n`, 'application/json')
      case '/metrics':
        return this.#answerMetrics(response)
      default:
        return answer(response, 404, `There are ${PATHS}\n`)
    }
  }

  async #answerMetrics(response: ServerResponse): Promise<void> {
    try {
      const text = (await this.#metrics?.get()) ?? ''
      answer(response, 200, text, 'text/plain; version=0.0.4; charset=utf-8')
    } catch (error) {
      answer(response, 500, `${(error as Error).message}\n`)
    }
  }

  #status(): object {
    const { reloads, failedReloads, reloadError } = this.#counts ?? {}
    return { pid: process.pid, ...this.#server?.status(), reloads, failedReloads, reloadError }
  }
}

function answer(response: ServerResponse, status: number, text: string, type: string = 'text/plain'): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(text)
}

/** What listens here keeps no process from its end. */
async function listen(server: Server, { port, host }: { port: number; host: string }): Promise<Server> {
  try {
    server.listen({ port, host }).unref()
    await once(server, 'listening')
    return server
  } catch (error) {
    throw cannotListen(host, `${port}, for \`admin\``, error)
  }
}

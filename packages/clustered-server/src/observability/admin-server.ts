import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { cannotListen } from '../errors.ts'
import type { ResolvedAdminOptions } from '../options/types.ts'
import type { AdminAddress, ClusteredServer } from '../server-types.ts'
import { type AppMetrics, MetricsText } from './metrics-text.ts'
import type { StatusReport } from './service-status.ts'

const PATHS = '/live, /ready, /status, /metrics'

/** Serves probes, the status and metrics on separate ports. */
export class AdminServer {
  readonly address: AdminAddress
  readonly #listeners: readonly Server[]
  #server: (ClusteredServer & { readonly appMetrics: AppMetrics }) | undefined
  #report: StatusReport | undefined
  #metrics: MetricsText | undefined

  private constructor(http: Server, agent: Server | undefined) {
    this.#listeners = agent ? [http, agent] : [http]
    const { address, port } = http.address() as AddressInfo
    this.address = { host: address, port, agentPort: (agent?.address() as AddressInfo | undefined)?.port }
  }

  /** @throws CLUSTERED_SERVER_CANNOT_LISTEN */
  static async start({ port, host, agentPort }: ResolvedAdminOptions): Promise<AdminServer> {
    let admin: AdminServer | undefined
    const respond = (request: IncomingMessage, response: ServerResponse): void =>
      void admin!.#respond(request, response)
    const http = await listen(createHttpServer(respond), { port, host })
    try {
      const getState = (): string => admin!.agentState()
      const agent = agentPort === undefined ? undefined : await listen(agentServer(getState), { port: agentPort, host })
      admin = new AdminServer(http, agent)
      return admin
    } catch (error) {
      http.close()
      throw error
    }
  }

  /** Reports on a server from now on. */
  attach(server: ClusteredServer & { readonly appMetrics: AppMetrics }, report: StatusReport): void {
    this.#server = server
    this.#report = report
    this.#metrics = new MetricsText(server, report.counts)
    server.once('closed', () => this.close())
  }

  close(): void {
    for (const listener of this.#listeners) listener.close()
  }

  /** State for HAProxy's agent checks. */
  agentState(): string {
    return this.#server?.status().ready ? 'ready up 100%\n' : 'drain\n'
  }

  async #respond({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
    // A kept-alive connection would delay the end of this process.
    response.setHeader('connection', 'close')
    if (method !== 'GET' && method !== 'HEAD') return send(response, 405, 'Allowed methods: GET, HEAD\n')
    switch (url?.split('?', 1)[0]) {
      case '/live':
        return send(response, 200, 'live\n')
      case '/ready': {
        const ready = this.#server?.status().ready ?? false
        return send(response, ready ? 200 : 503, ready ? 'ready\n' : 'not ready\n')
      }
      case '/status':
        return send(
          response,
          200,
          `${JSON.stringify(this.#report?.get() ?? { pid: process.pid })}\n`,
          'application/json',
        )
      case '/metrics':
        return this.#sendMetrics(response)
      default:
        return send(response, 404, `Not found. Paths: ${PATHS}\n`)
    }
  }

  async #sendMetrics(response: ServerResponse): Promise<void> {
    try {
      const text = (await this.#metrics?.get()) ?? ''
      send(response, 200, text, 'text/plain; version=0.0.4; charset=utf-8')
    } catch (error) {
      send(response, 500, `${(error as Error).message}\n`)
    }
  }
}

function agentServer(getState: () => string): Server {
  return createServer((socket) => {
    socket.on('error', () => {})
    socket.end(getState())
    // The end of a connection is only noticed while reading.
    socket.resume()
  })
}

function send(response: ServerResponse, status: number, text: string, type: string = 'text/plain'): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(text)
}

/** Listens without keeping this process alive. */
async function listen(server: Server, { port, host }: { port: number; host: string }): Promise<Server> {
  try {
    server.listen({ port, host }).unref()
    await once(server, 'listening')
    return server
  } catch (error) {
    throw cannotListen(host, `${port}, of "admin"`, error)
  }
}

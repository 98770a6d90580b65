import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { counted } from '../observability/counted.ts'
import type { StatusReport } from '../observability/service-status.ts'
import { MAX_WORKERS } from '../options/schema.ts'
import { markOwn } from '../platform/own-servers.ts'
import { removeStale } from '../platform/unix-socket.ts'
import type { ClusteredServer } from '../server-types.ts'
import { MergedReloads } from './merged-reloads.ts'
import { createRuntimeDirectory } from './runtime-directory.ts'

/** A request that cannot be fulfilled. */
class RefusedError extends Error {}

/** Lets the commands `status`, `reload`, `scale` and `stop` of the same user control a server, by HTTP on a UNIX socket. */
export class ControlServer {
  readonly #server: ClusteredServer
  readonly #report: StatusReport
  readonly #stop: () => void
  readonly #reloads: MergedReloads
  #isClosing = false

  private constructor(server: ClusteredServer, report: StatusReport, stop: () => void) {
    this.#server = server
    this.#report = report
    this.#stop = stop
    this.#reloads = new MergedReloads(() => server.reload())
    server.on('closing', () => (this.#isClosing = true))
  }

  /**
   * Opens the socket, until the server has closed.
   *
   * @param stop starts the shutdown
   * @throws Error when no private socket can be opened
   */
  static async open(server: ClusteredServer, report: StatusReport, stop: () => void): Promise<void> {
    const control = new ControlServer(server, report, stop)
    const path = join(createRuntimeDirectory(), `${process.pid}.sock`)
    await removeStale(path)
    const http = createServer((request, response) => void control.#respond(request, response))
    const remove = (): void => rmSync(path, { force: true })
    const close = (): void => {
      process.off('exit', remove)
      http.close()
      http.closeAllConnections()
    }
    let isClosed = false
    server.once('closed', () => {
      isClosed = true
      close()
    })
    await listen(http, path)
    if (isClosed) close()
    // Before the process ends without `closed`, as on a second stop signal.
    else process.once('exit', remove)
  }

  async #respond({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
    // A kept-alive connection would delay the end of this process.
    response.setHeader('connection', 'close')
    try {
      const { pathname, searchParams } = parse(url)
      const result = await this.#run(`${method} ${pathname}`, searchParams)
      send(response, 200, result)
    } catch (error) {
      send(response, error instanceof RefusedError ? 400 : 409, { error: (error as Error).message })
    }
  }

  async #run(request: string, parameters: URLSearchParams): Promise<object> {
    switch (request) {
      case 'GET /status':
        return this.#report.get()
      case 'POST /reload':
        await this.#reloads.run()
        return this.#report.get()
      case 'POST /scale':
        await this.#server.scale(this.#target(parameters.get('workers') ?? ''))
        return this.#report.get()
      case 'POST /stop':
        // A second stop signal would kill all workers.
        if (!this.#isClosing) this.#stop()
        return {}
      default:
        throw new RefusedError(`unknown request ${request}: the command and the service have different versions`)
    }
  }

  /** The number of workers that `3`, `+1` or `-1` stands for. */
  #target(text: string): number {
    const { size } = this.#server.status()
    const target = Number(text) + (/^[+-]/.test(text) ? size : 0)
    if (/^[+-]?\d{1,9}$/.test(text) && target >= 1 && target <= MAX_WORKERS) return target
    throw new RefusedError(`cannot scale from ${counted(size, 'worker')} to ${target}: expected 1 to ${MAX_WORKERS}`)
  }
}

/** @throws RefusedError for a URL such as `//` */
function parse(url: string = '/'): URL {
  const parsed = URL.parse(url, 'http://localhost')
  if (!parsed) throw new RefusedError(`unknown request ${url}`)
  return parsed
}

async function listen(server: Server, path: string): Promise<void> {
  markOwn(server).listen({ path }).unref()
  await once(server, 'listening')
  chmodSync(path, 0o600)
  // An error of accept(), for want of descriptors, must not end the process.
  server.on('error', () => {})
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`)
}

// All that is taken from inside Node stands here: it is looked for at start, and what is missing is done without.

import type { EventEmitter } from 'node:events'
import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http'
import net, { type AddressInfo, isIPv6, type Server, Socket } from 'node:net'
import { getSystemErrorMap } from 'node:util'

/** What a TCP socket is to libuv. */
export interface RawHandle {
  readonly fd: number
  readStop: () => number
  close: () => void
}

/** A parser of a connection, of `http`. */
interface Parser {
  socket: Socket | null
  /** Takes it out of the server's list. */
  remove?: () => void
}

interface SocketInternals {
  _handle: RawHandle | null
  /** The response that is being written. */
  _httpMessage?: ServerResponse | null
  parser?: Parser | null
}

interface ServerInternals {
  /** Bytes that its sockets buffer, as it was made with. */
  highWaterMark?: number
}

interface ResponseInternals {
  /** The head as it was sent. */
  _header?: string | null
}

interface ConnectionsList {
  /** Parsers that are in no request. */
  idle: () => Parser[]
}

/** A socket that is bound, and that no event loop accepts from. */
export interface BoundListener {
  readonly fd: number
  readonly port: number
  readonly host: string
  close: () => void
}

interface BindHandle extends RawHandle {
  getsockname: (out: { address?: string; port?: number }) => number
}

/**
 * Binds a socket for others to accept from: by `net.BoundSocket`, which is public and documented, where Node has it
 * (24.21, 26), else by what `node:cluster` itself uses.
 *
 * @throws {Error} of Node, such as `EADDRINUSE`.
 */
export function bindListener(port: number, host: string | undefined): BoundListener {
  // Without an address all are meant, and with IPv6 they are all of IPv4 as well.
  if (host === undefined) {
    try {
      return bindListener(port, '::')
    } catch (error) {
      if (!['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? ''))
        throw error
      return bindListener(port, '0.0.0.0')
    }
  }
  if ('BoundSocket' in net) {
    const bound = new (net as unknown as BoundSockets).BoundSocket({ port, host })
    const address = bound.address()
    return { fd: bound.fd(), port: address.port, host: address.address, close: () => bound.close() }
  }
  const handle = (net as unknown as CreateServerHandle)._createServerHandle(host, port, isIPv6(host) ? 6 : 4)
  if (typeof handle === 'number') throw systemError(handle, 'bind', host, port)
  const address: { address?: string; port?: number } = {}
  // What is taken already comes to light here.
  const failed = handle.getsockname(address)
  if (failed) {
    handle.close()
    throw systemError(failed, 'bind', host, port)
  }
  return { fd: handle.fd, port: address.port!, host, close: () => handle.close() }
}

/**
 * Takes a listening socket that another process has passed, without accepting from it.
 *
 * @throws {Error} when it is none of TCP
 */
export function takeListener(fd: number): BoundListener {
  // It tells its address, as any socket does, and as it does not read it does nothing else.
  const socket = new Socket({ fd, readable: false, writable: false })
  const { address, port } = socket.address() as Partial<AddressInfo>
  if (address === undefined || port === undefined) throw new Error(`Descriptor ${fd} is no listening socket of TCP`)
  return { fd, port, host: address, close: () => socket.destroy() }
}

interface BoundSockets {
  BoundSocket: new (options: { port: number; host: string }) => {
    fd: () => number
    address: () => { address: string; port: number }
    close: () => void
  }
}

interface CreateServerHandle {
  _createServerHandle: (host: string, port: number, family: 4 | 6) => BindHandle | number
}

function systemError(number: number, call: string, host: string, port: number): Error {
  const [code, text] = getSystemErrorMap().get(number) ?? ['UNKNOWN', 'unknown error']
  return Object.assign(new Error(`${call} ${code}: ${text} ${host}:${port}`), {
    code,
    syscall: call,
    address: host,
    port,
  })
}

/** Whether this Node has what connections are handed over by. */
export function canHandOver(): boolean {
  const server = createServer()
  try {
    server.emit('listening')
    const probe = new Socket() as unknown as SocketInternals
    return connectionsOf(server) !== undefined && '_handle' in probe
  } finally {
    server.removeAllListeners()
    server.close()
  }
}

/**
 * Those connections that wait for a request: nothing of the next one was read, and nothing of the last answer is left
 * to write.
 */
export function restingSockets(server: Server, some: Iterable<Socket>): Socket[] {
  const inNoRequest = new Set(
    connectionsOf(server)
      ?.idle()
      .map(({ socket }) => socket),
  )
  const resting: Socket[] = []
  for (const socket of some) {
    const { _handle: handle, _httpMessage: response, parser } = socket as unknown as SocketInternals
    // Those that have never asked are in the list of those whose request is late, and not in that of the idle.
    const rests = parser && (socket.bytesRead === 0 || inNoRequest.has(socket))
    if (rests && !response && handle?.readStop && isRead(socket) && isWritten(socket)) resting.push(socket)
  }
  return resting
}

function isRead(socket: Socket): boolean {
  return socket.readableLength === 0 && !socket.readableEnded && !socket.destroyed
}

function isWritten(socket: Socket): boolean {
  return socket.writableLength === 0 && !socket.writableEnded
}

function connectionsOf(server: Server): ConnectionsList | undefined {
  const key = Object.getOwnPropertySymbols(server).find((one) => one.description === 'http.server.connections')
  const list = key && (server as unknown as Record<symbol, Partial<ConnectionsList> | undefined>)[key]
  return list && typeof list.idle === 'function' ? (list as ConnectionsList) : undefined
}

/**
 * Stops reading from a socket that rests, for another process to have it: what its client sends from now on waits in
 * the kernel. The socket is to be destroyed once its handle has gone, which says nothing to the client.
 */
export function takeHandle(socket: Socket): RawHandle {
  const { _handle: handle, parser } = socket as unknown as SocketInternals
  handle!.readStop()
  if (socket.timeout) socket.setTimeout(0)
  // The server forgets it: many may wait to be sent, and are not to be looked through each time, nor to be timed out.
  parser?.remove?.()
  return handle!
}

/** Has a server go on with a connection of another process. To the server it is new. */
export function adoptHandle(server: HttpServer, handle: RawHandle): Socket {
  const { highWaterMark } = server as unknown as ServerInternals
  // Reading begins in the next turn of the event loop, and by then the server has its parser there.
  const socket = new Socket({
    handle,
    allowHalfOpen: true,
    readable: true,
    writable: true,
    readableHighWaterMark: highWaterMark,
    writableHighWaterMark: highWaterMark,
  } as object)
  server.emit('connection', socket)
  return socket
}

/**
 * Calls back for each handle that one end of a channel has sent, and that the other end had no descriptor for: whether it
 * is this end. The kernel has taken it from the message then, and Node says so to itself only.
 */
export function onHandleLost(channel: EventEmitter, lost: (isHere: boolean) => void): void {
  channel.on('internalMessage', ({ cmd }: { cmd?: unknown }, handle: unknown) => {
    if (cmd === 'NODE_HANDLE_NACK') lost(false)
    if (cmd === 'NODE_HANDLE' && !handle) lost(true)
  })
}

/** The answer that is being written on a connection, if there is one. */
export function answerOf(socket: Socket): ServerResponse | undefined {
  return (socket as unknown as SocketInternals)._httpMessage ?? undefined
}

/** Whether an answer is a stream of events, which a client asks for again when it ends. */
export function isEventStream(answer: ServerResponse): boolean {
  const { _header: head } = answer as unknown as ResponseInternals
  return /^content-type: *text\/event-stream/im.test(head ?? '')
}

/** Whether requests of HTTP/1 come in a connection: they do no longer once it was upgraded. */
export function isHttp1(socket: Socket): boolean {
  return Boolean((socket as unknown as SocketInternals).parser)
}

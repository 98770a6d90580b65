// All internals of Node that this package uses. They are detected at start, and a missing one disables a feature.

import type { EventEmitter } from 'node:events'
import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http'
import net, { type AddressInfo, isIPv6, type Server, Socket } from 'node:net'
import { getSystemErrorMap } from 'node:util'

/** Handle of a TCP or UNIX socket in libuv. */
export interface RawHandle {
  readonly fd: number
  readStop: () => number
  close: (done?: () => void) => void
  /** For a UNIX socket: lets everybody read (1), write (2) or both (3). */
  fchmod?: (mode: number) => number
}

/** The HTTP parser of a connection. */
interface Parser {
  socket: Socket | null
  /** Removes it from the server's list. */
  remove?: () => void
}

interface SocketInternals {
  _handle: RawHandle | null
  /** The response that is being written. */
  _httpMessage?: ServerResponse | null
  parser?: Parser | null
}

interface ServerInternals {
  /** Buffer size of its sockets, in bytes. */
  highWaterMark?: number
}

interface ResponseInternals {
  /** The head as sent. */
  _header?: string | null
}

interface ConnectionsList {
  /** Parsers without a request in progress. */
  idle: () => Parser[]
}

/** A bound socket that no event loop accepts from. */
export interface BoundListener {
  readonly fd: number
  /** 0 for a UNIX socket. */
  readonly port: number
  /** Empty for a UNIX socket. */
  readonly host: string
  /** Path of a UNIX socket; closing removes the file. */
  readonly path: string | undefined
  close: () => void
}

/** Address that a server is about to bind, as Node resolves the arguments of `listen()`. */
export interface BindQuery {
  /** IP address or path of a UNIX socket; `null` for all addresses. */
  readonly address: string | null
  /** -1 for a UNIX socket. */
  readonly port: number
  readonly addressType: number
  readonly flags: number | undefined
}

interface BindHandle extends RawHandle {
  getsockname: (out: { address?: string; port?: number }) => number
}

/**
 * Binds a socket for other processes to accept from: by the public `net.BoundSocket` where Node has it (24.21, 26), else
 * by the function that `node:cluster` uses.
 *
 * @throws Error of Node, such as EADDRINUSE
 */
export function bindListener(port: number, host: string | undefined): BoundListener {
  // All addresses: those of IPv6 include IPv4.
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
    return { fd: bound.fd(), port: address.port, host: address.address, path: undefined, close: () => bound.close() }
  }
  const handle = createHandle(host, port, isIPv6(host) ? 6 : 4)
  if (typeof handle === 'number') throw systemError(handle, 'bind', host, port)
  const address: { address?: string; port?: number } = {}
  // An address in use is detected here.
  const failed = handle.getsockname(address)
  if (failed) {
    handle.close()
    throw systemError(failed, 'bind', host, port)
  }
  return { fd: handle.fd, port: address.port!, host, path: undefined, close: () => handle.close() }
}

/**
 * Binds a UNIX socket for other processes to accept from.
 *
 * @throws Error of Node, such as EADDRINUSE
 */
export function bindUnixListener(path: string): BoundListener {
  const handle = bindHandle({ address: path, port: -1, addressType: -1, flags: undefined })
  if (typeof handle === 'number') throw systemError(handle, 'bind', path)
  return { fd: handle.fd, port: 0, host: '', path, close: () => handle.close() }
}

/** Binds a socket that can be sent to other processes; returns the error number if that fails. */
export function bindHandle({ address, port, addressType, flags }: BindQuery): RawHandle | number {
  const handle = createHandle(address, port, addressType, undefined, flags)
  if (typeof handle === 'number' || port === -1) return handle
  // An address in use is detected here.
  const failed = handle.getsockname({})
  if (!failed) return handle
  handle.close()
  return failed
}

/** Makes a server that is about to listen do so on an existing socket. */
export function listenOnHandle(server: Server, fd: number): void {
  onBind(server, () => createHandle(null, null, null, fd))
}

/**
 * Makes a server that is about to listen wait for a socket that is bound elsewhere.
 *
 * @param bind resolves with the socket, or with an error number
 */
export function listenLater(server: Server, bind: (query: BindQuery) => Promise<RawHandle | number>): void {
  onBind(server, bind)
}

type Bind = (query: BindQuery) => RawHandle | number | Promise<RawHandle | number>

/** Replaces the method by which a server binds and listens, for its next use. */
function onBind(server: Server, bind: Bind): void {
  const internals = server as unknown as ListenInternals
  // Without this method, each process binds for itself.
  if (typeof internals._listen2 !== 'function') return
  internals._listen2 = function listen(address, port, addressType, backlog, fd, flags): void {
    delete (this as Partial<ListenInternals>)._listen2
    // The server got a bound socket.
    if (this._handle || typeof fd === 'number') return this._listen2(address, port, addressType, backlog, fd, flags)
    const id = this._listeningId
    const take = (handle: RawHandle | number): void => {
      // The server was closed meanwhile, or listens elsewhere.
      if (this._listeningId !== id || this._handle) {
        if (typeof handle !== 'number') handle.close()
        return
      }
      if (typeof handle === 'number') {
        const at = port === -1 ? undefined : port
        process.nextTick(() => server.emit('error', systemError(handle, 'listen', address ?? '::', at)))
        return
      }
      this._handle = handle
      this._listen2(address, port, addressType, backlog)
    }
    const handle = bind({ address, port, addressType, flags })
    if (handle instanceof Promise) void handle.then(take)
    else take(handle)
  }
}

interface ListenInternals {
  _handle: RawHandle | null
  /** Number of calls of `listen()`. */
  _listeningId: number
  _listen2: (
    address: string | null,
    port: number,
    addressType: number,
    backlog: number,
    fd?: number,
    flags?: number,
  ) => void
}

/** Calls back when a process stops accepting from a socket; the `close` event of a server comes later. */
export function onHandleClosed(handle: RawHandle, closed: () => void): void {
  const { close } = handle
  handle.close = (...args) => {
    handle.close = close
    closed()
    close.apply(handle, args)
  }
}

function createHandle(...args: CreateHandleArguments): BindHandle | number {
  return (net as unknown as CreateServerHandle)._createServerHandle(...args)
}

/**
 * Takes a listening socket that another process has passed, without accepting from it.
 *
 * @throws Error when it is not a TCP socket
 */
export function takeListener(fd: number): BoundListener {
  // This Socket only reports the address; it neither reads nor writes.
  const socket = new Socket({ fd, readable: false, writable: false })
  const { address, port } = socket.address() as Partial<AddressInfo>
  if (address === undefined || port === undefined) throw new Error(`Descriptor ${fd} is not a listening TCP socket`)
  return { fd, port, host: address, path: undefined, close: () => socket.destroy() }
}

interface BoundSockets {
  BoundSocket: new (options: { port: number; host: string }) => {
    fd: () => number
    address: () => { address: string; port: number }
    close: () => void
  }
}

type CreateHandleArguments = [
  address: string | null,
  port: number | null,
  family: number | null,
  fd?: number,
  flags?: number,
]

interface CreateServerHandle {
  _createServerHandle: (...args: CreateHandleArguments) => BindHandle | number
}

/** @param host IP address or, without a port, path of a UNIX socket */
function systemError(number: number, call: string, host: string, port?: number): Error {
  const [code, text] = getSystemErrorMap().get(number) ?? ['UNKNOWN', 'unknown error']
  const at = port === undefined ? host : `${host}:${port}`
  return Object.assign(new Error(`${call} ${code}: ${text} ${at}`), {
    errno: number,
    code,
    syscall: call,
    address: host,
    port,
  })
}

/** Whether this version of Node has the internals that a handover needs. */
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

/** Returns idle connections: no part of the next request was read, and the last response is fully written. */
export function idleSockets(server: Server, some: Iterable<Socket>): Socket[] {
  const inNoRequest = new Set(
    connectionsOf(server)
      ?.idle()
      .map(({ socket }) => socket),
  )
  const idle: Socket[] = []
  for (const socket of some) {
    const { _handle: handle, _httpMessage: response, parser } = socket as unknown as SocketInternals
    // Connections without any request yet are not in the list of idle ones.
    const isIdle = parser && (socket.bytesRead === 0 || inNoRequest.has(socket))
    if (isIdle && !response && handle?.readStop && isRead(socket) && isWritten(socket)) idle.push(socket)
  }
  return idle
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
 * Stops reading from an idle socket that another process will get. Further data of the client waits in the kernel. Once
 * the handle is sent, the socket has to be destroyed, which the client does not notice.
 */
export function takeHandle(socket: Socket): RawHandle {
  const { _handle: handle, parser } = socket as unknown as SocketInternals
  handle!.readStop()
  if (socket.timeout) socket.setTimeout(0)
  // Removed from the server's list: it must neither be found idle again nor time out.
  parser?.remove?.()
  return handle!
}

/** Makes a server continue a connection of another process. To the server it is new. */
export function adoptHandle(server: HttpServer, handle: RawHandle): Socket {
  const { highWaterMark } = server as unknown as ServerInternals
  // Reading begins in the next tick; by then the server has attached its parser.
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
 * Calls `onSent` when the other end has received the next sent handle, or has not, and `onLost` for a handle that this
 * process has not received. The kernel drops handles for a process without a free descriptor.
 */
export function watchHandles(channel: EventEmitter, onSent: (isReceived: boolean) => void, onLost: () => void): void {
  channel.on('internalMessage', ({ cmd }: { cmd?: unknown }, handle: unknown) => {
    if (cmd === 'NODE_HANDLE_ACK' || cmd === 'NODE_HANDLE_NACK') onSent(cmd === 'NODE_HANDLE_ACK')
    if (cmd === 'NODE_HANDLE' && !handle) onLost()
  })
}

/** The response in progress on a connection, if any. */
export function responseOf(socket: Socket): ServerResponse | undefined {
  return (socket as unknown as SocketInternals)._httpMessage ?? undefined
}

/** Whether a response is an event stream, which clients request again when it ends. */
export function isEventStream(response: ServerResponse): boolean {
  const { _header: head } = response as unknown as ResponseInternals
  return /^content-type: *text\/event-stream/im.test(head ?? '')
}

/** Whether a connection speaks HTTP/1; false once it was upgraded. */
export function isHttp1(socket: Socket): boolean {
  return Boolean((socket as unknown as SocketInternals).parser)
}

// All that is taken from inside Node stands here: it is looked for at start, and what is missing is done without.

import type { EventEmitter } from 'node:events'
import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http'
import net, { type AddressInfo, isIPv6, type Server, Socket } from 'node:net'
import { getSystemErrorMap } from 'node:util'

/** What a TCP socket is to libuv. */
export interface RawHandle {
  readonly fd: number
  readStop: () => number
  close: (done?: () => void) => void
  /** Of a UNIX socket: lets everybody read (1), write (2) or both (3). */
  fchmod?: (mode: number) => number
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
  /** 0 for a UNIX socket. */
  readonly port: number
  /** Empty for a UNIX socket. */
  readonly host: string
  /** That of a UNIX socket: the file goes with it. */
  readonly path: string | undefined
  close: () => void
}

/** What a server is about to bind, as Node resolves the arguments of `listen()`. */
export interface BindQuery {
  /** An IP address, or the path of a UNIX socket; without one all addresses. */
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
    return { fd: bound.fd(), port: address.port, host: address.address, path: undefined, close: () => bound.close() }
  }
  const handle = createHandle(host, port, isIPv6(host) ? 6 : 4)
  if (typeof handle === 'number') throw systemError(handle, 'bind', host, port)
  const address: { address?: string; port?: number } = {}
  // What is taken already comes to light here.
  const failed = handle.getsockname(address)
  if (failed) {
    handle.close()
    throw systemError(failed, 'bind', host, port)
  }
  return { fd: handle.fd, port: address.port!, host, path: undefined, close: () => handle.close() }
}

/**
 * Binds a UNIX socket for others to accept from.
 *
 * @throws {Error} of Node, such as `EADDRINUSE`.
 */
export function bindUnixListener(path: string): BoundListener {
  const handle = bindHandle({ address: path, port: -1, addressType: -1, flags: undefined })
  if (typeof handle === 'number') throw systemError(handle, 'bind', path)
  return { fd: handle.fd, port: 0, host: '', path, close: () => handle.close() }
}

/** Binds a socket that can be sent to other processes; gives the number of the error if it cannot be bound. */
export function bindHandle({ address, port, addressType, flags }: BindQuery): RawHandle | number {
  const handle = createHandle(address, port, addressType, undefined, flags)
  if (typeof handle === 'number' || port === -1) return handle
  // What is taken already comes to light here.
  const failed = handle.getsockname({})
  if (!failed) return handle
  handle.close()
  return failed
}

/** Has a server that is about to listen do so on a socket that is there. */
export function listenOnHandle(server: Server, fd: number): void {
  onBind(server, () => createHandle(null, null, null, fd))
}

/**
 * Has a server that is about to listen wait for a socket that is bound elsewhere.
 *
 * @param bind gives the socket, or the number of an error
 */
export function listenLater(server: Server, bind: (query: BindQuery) => Promise<RawHandle | number>): void {
  onBind(server, bind)
}

type Bind = (query: BindQuery) => RawHandle | number | Promise<RawHandle | number>

/** Replaces the method by which a server binds and listens, for the next time that it does. */
function onBind(server: Server, bind: Bind): void {
  const internals = server as unknown as ListenInternals
  // Without it, each process binds for itself.
  if (typeof internals._listen2 !== 'function') return
  internals._listen2 = function listen(address, port, addressType, backlog, fd, flags): void {
    delete (this as Partial<ListenInternals>)._listen2
    // It was given a socket that is bound.
    if (this._handle || typeof fd === 'number') return this._listen2(address, port, addressType, backlog, fd, flags)
    const id = this._listeningId
    const take = (handle: RawHandle | number): void => {
      // It was closed meanwhile, or listens elsewhere.
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
  /** Counts the calls of `listen()`. */
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

/** Calls back when a process accepts no longer from a socket: a server that closes does not say so at once. */
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
 * @throws {Error} when it is none of TCP
 */
export function takeListener(fd: number): BoundListener {
  // It tells its address, as any socket does, and as it does not read it does nothing else.
  const socket = new Socket({ fd, readable: false, writable: false })
  const { address, port } = socket.address() as Partial<AddressInfo>
  if (address === undefined || port === undefined) throw new Error(`Descriptor ${fd} is no listening socket of TCP`)
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

/** @param host an IP address or, without a port, the path of a UNIX socket */
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

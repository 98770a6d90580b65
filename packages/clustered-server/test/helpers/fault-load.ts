// Clients of many kinds on raw sockets, which tell apart in what ways a server fails them.

import { createHash, randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** How a request fails. */
export type Failure =
  /** The connection was refused, or its address was not reached. */
  | 'refused'
  /** The connection was reset before an answer began: one that had answered before, or a fresh one. */
  | 'resetReused'
  | 'resetFresh'
  /** The connection was closed in good order, and an answer had not begun, or was not all there. */
  | 'closedBefore'
  | 'closedWithin'
  | 'timeout'
  | 'wrongAnswer'

/** What a client does again and again. */
export type Kind = keyof typeof kinds

/** What became of the requests of some clients. */
interface Outcome {
  /** Requests that got the right answer. */
  answered: number
  failed: number
  failures: Partial<Record<Failure, number>>
  /** Connections that were opened. */
  connections: number
  /** Connections that were closed after an answer that had said so. */
  announced: number
  /** Connections that were closed while no request was under way, without a word. */
  unannounced: number
  /** Milliseconds of the slowest request, that its client took for itself included, and of 99 in 100. */
  slowest: number
  p99: number
}

export interface FaultReport extends Outcome {
  kinds: Partial<Record<Kind, Outcome>>
  /** Kinds whose clients had to open a connection more than once, and were not made for that. */
  reconnected: Kind[]
  /** Kinds that got no right answer. */
  unserved: Kind[]
  /** The first failures, in words. */
  notes: string[]
}

export interface FaultLoadOptions {
  /** Opens a connection. */
  connect: () => Socket
  /** How many clients of which kind. */
  clients: Partial<Record<Kind, number>>
  /** Milliseconds that an answer may take. */
  timeout?: number
}

/** A load that runs until it is stopped. */
export interface FaultLoad {
  /** How many requests have been answered so far. */
  readonly answered: number
  /** How many have failed so far, and connections that were closed meanwhile in whatever way. */
  readonly lost: number
  /** Resolves, once what is under way has ended, with what became of all. */
  stop: () => Promise<FaultReport>
}

interface Answer {
  status: number
  body: string
}

/** A connection that closed after it was said that it would: what was asked meanwhile may be asked again. */
const ANNOUNCED = Symbol('announced')

/** What a request came to. */
export type Result = Answer | Failure | typeof ANNOUNCED

/** Whether a request was answered. */
export function isAnswer(result: Result): result is Answer {
  return typeof result === 'object'
}

/** A connection of HTTP/1.1, as its client sees it. */
export class RawConnection {
  readonly socket: Socket
  /** Answers that it gave. */
  answers = 0
  /** Whether an answer said that it was the last one. */
  isAnnounced = false
  /** Whether it was closed by the server. */
  isClosed = false
  /** Whether it was closed by the server while no request was under way, and no answer had said so. */
  isUnannounced = false
  readonly #timeout: number
  readonly #waiting: ((result: Result) => void)[] = []
  #text = ''
  /** What the client has sent of a request that is not whole. */
  #isAsking = false
  #isOurs = false
  /** How it was closed by the server. */
  #failure: Failure | undefined
  #onEnd: () => void = () => {}

  /** @param timeout milliseconds that an answer may take */
  constructor(socket: Socket, timeout = 5000) {
    this.socket = socket
    this.#timeout = timeout
    socket.setNoDelay(true)
    socket.on('data', (chunk) => {
      this.#text += chunk.toString('latin1')
      this.#read()
    })
    socket.on('end', () => this.#end('closedBefore'))
    socket.on('error', ({ code }: NodeJS.ErrnoException) =>
      this.#end(code === 'ECONNREFUSED' || code === 'ETIMEDOUT' ? 'refused' : this.#reset()),
    )
    socket.on('close', () => this.#end(this.#reset()))
  }

  /** Sends a part of a request: more is to come. */
  begin(part: string | Buffer): void {
    this.#isAsking = true
    if (this.socket.writable) this.socket.write(part)
  }

  /** Sends the rest of one or more requests, and resolves with what each of them comes to. */
  ask(rest: string | Buffer, count = 1): Promise<Result[]> {
    const results = Array.from({ length: count }, () => this.#result())
    this.#isAsking = false
    if (this.#failure) this.#endNow(this.#failure)
    else this.socket.write(rest)
    return Promise.all(results)
  }

  /** Resolves when the server closes it. */
  get closed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.isClosed) resolve()
      this.#onEnd = resolve
    })
  }

  close(): void {
    this.#isOurs = true
    this.socket.destroy()
  }

  #result(): Promise<Result> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#endNow('timeout')
        this.close()
      }, this.#timeout)
      this.#waiting.push((result) => {
        clearTimeout(timer)
        resolve(result)
      })
    })
  }

  #reset(): Failure {
    return this.answers > 0 ? 'resetReused' : 'resetFresh'
  }

  #end(failure: Failure): void {
    if (this.isClosed || this.#isOurs) return
    this.isClosed = true
    this.#failure = failure
    // What was begun fails as soon as its rest is sent.
    if (this.#waiting.length === 0 && !this.#isAsking && !this.isAnnounced && failure !== 'refused')
      this.isUnannounced = true
    this.#endNow(failure)
    this.#onEnd()
  }

  #endNow(failure: Failure): void {
    for (const [index, resolve] of this.#waiting.splice(0).entries())
      if (this.isAnnounced && failure !== 'timeout') resolve(ANNOUNCED)
      else resolve(index === 0 && this.#text !== '' && failure !== 'timeout' ? 'closedWithin' : failure)
  }

  #read(): void {
    for (let answer = takeAnswer(this.#text); answer; answer = takeAnswer(this.#text)) {
      this.#text = answer.rest
      if (answer.status === 100) continue
      this.answers++
      this.isAnnounced ||= answer.isLast
      const resolve = this.#waiting.shift()
      // Nobody has asked for it.
      if (!resolve) this.isUnannounced = true
      resolve?.({ status: answer.status, body: answer.body })
    }
  }
}

/** The first answer in what was received, if it is all there. */
function takeAnswer(text: string): (Answer & { isLast: boolean; rest: string }) | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
  const isLast = /^connection: *close/im.test(head)
  const after = text.slice(end + 4)
  if (status === 100) return { status, body: '', isLast, rest: after }
  if (/^transfer-encoding: *chunked/im.test(head)) {
    const chunks = takeChunks(after)
    return chunks && { status, isLast, ...chunks }
  }
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  if (after.length < length) return undefined
  return { status, body: after.slice(0, length), isLast, rest: after.slice(length) }
}

function takeChunks(text: string): { body: string; rest: string } | undefined {
  let body = ''
  let at = 0
  for (;;) {
    const line = text.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(text.slice(at, line), 16)
    const end = line + 2 + size + 2
    if (text.length < end) return undefined
    if (size === 0) return { body, rest: text.slice(end) }
    body += text.slice(line + 2, line + 2 + size)
    at = end
  }
}

/** What a request is to be answered with. */
interface Expected {
  text: string
  body: string
}

let lastId = 0

/** A request whose answer nobody else gets. */
function get(path: string, headers = ''): Expected {
  const id = String(++lastId)
  return { text: `GET /${path}/${id} HTTP/1.1\r\nhost: test\r\n${headers}\r\n`, body: id }
}

function post(size: number): Expected & { head: string; content: Buffer } {
  const content = Buffer.from(randomBytes(size / 2).toString('hex'), 'latin1')
  const head = `POST /sum HTTP/1.1\r\nhost: test\r\ncontent-length: ${content.length}\r\n\r\n`
  const body = createHash('sha1').update(content).digest('hex')
  return { head, content, text: head + content.toString('latin1'), body }
}

/** What clients of each kind do with a connection: they ask, and say what they expect. */
const kinds = {
  /** The next request as soon as there is an answer. */
  busy: async (connection: RawConnection) => {
    const { text, body } = get('answer')
    return compare(await connection.ask(text), [body])
  },
  /** Thinks for up to 100 ms before each request. */
  thinking: async (connection: RawConnection) => {
    await wait(Math.random() * 100)
    // Whoever sees that asks elsewhere.
    if (connection.isClosed) return []
    const { text, body } = get('answer')
    return compare(await connection.ask(text), [body])
  },
  /** One request for each connection. */
  short: async (connection: RawConnection) => {
    const { text, body } = get('answer', 'connection: close\r\n')
    return compare(await connection.ask(text), [body])
  },
  /** Several requests at once, of which the last is cut in two. */
  pipelining: async (connection: RawConnection) => {
    const requests = [get('answer'), get('slow'), get('stream'), get('answer')]
    const all = requests.map(({ text }) => text).join('')
    const cut = all.length - 20
    connection.begin(all.slice(0, cut))
    const results = connection.ask('', 3)
    connection.begin('')
    await wait(Math.random() * 100)
    const last = connection.ask(all.slice(cut))
    return compare(
      [...(await results), ...(await last)],
      requests.map(({ body }) => body),
    )
  },
  /** A head that comes bit by bit. */
  trickling: async (connection: RawConnection) => {
    const { text, body } = get('answer')
    for (let at = 0; at < text.length - 5; at += 5) {
      connection.begin(text.slice(at, at + 5))
      await wait(5)
    }
    return compare(await connection.ask(text.slice(text.length - (text.length % 5 || 5))), [body])
  },
  /** A body that comes within 300 ms. */
  uploading: async (connection: RawConnection) => {
    const { head, content, body } = post(60_000)
    connection.begin(head)
    for (let at = 0; at < 50_000; at += 10_000) {
      connection.begin(content.subarray(at, at + 10_000))
      await wait(60)
    }
    return compare(await connection.ask(content.subarray(50_000)), [body])
  },
  /** A small body along with its head. */
  posting: async (connection: RawConnection) => {
    const { text, body } = post(200)
    return compare(await connection.ask(text), [body])
  },
  /** An answer that begins after some time. */
  slow: async (connection: RawConnection) => {
    const { text, body } = get('slow')
    return compare(await connection.ask(text), [body])
  },
  /** An answer that comes bit by bit. */
  streaming: async (connection: RawConnection) => {
    const { text, body } = get('stream')
    return compare(await connection.ask(text), [body])
  },
} as const

type Compared = ('answered' | Exclude<Result, Answer>)[]

function compare(results: readonly Result[], bodies: readonly string[]): Compared {
  return results.map((result, index) => {
    if (!isAnswer(result)) return result
    return result.status === 200 && result.body === bodies[index] ? 'answered' : 'wrongAnswer'
  })
}

class Count implements Outcome {
  answered = 0
  failed = 0
  failures: Partial<Record<Failure, number>> = {}
  connections = 0
  announced = 0
  unannounced = 0
  slowest = 0
  p99 = 0
  readonly #durations: number[] = []

  add(other: Outcome, durations: readonly number[] = []): void {
    this.answered += other.answered
    this.failed += other.failed
    this.connections += other.connections
    this.announced += other.announced
    this.unannounced += other.unannounced
    for (const [failure, count] of Object.entries(other.failures) as [Failure, number][])
      this.fail(failure, count, false)
    for (const duration of durations) this.took(duration)
  }

  fail(failure: Failure, count = 1, isNew = true): void {
    this.failures[failure] = (this.failures[failure] ?? 0) + count
    if (isNew) this.failed += count
  }

  took(duration: number): void {
    this.#durations.push(duration)
  }

  get durations(): readonly number[] {
    return this.#durations
  }

  get outcome(): Outcome {
    const { answered, failed, failures, connections, announced, unannounced } = this
    const sorted = this.#durations.toSorted((a, b) => a - b)
    const [slowest, p99] = [sorted.at(-1) ?? 0, sorted[Math.floor(sorted.length * 0.99)] ?? 0].map(Math.round) as [
      number,
      number,
    ]
    return { answered, failed, failures, connections, announced, unannounced, slowest, p99 }
  }
}

/** Starts clients, each of which goes on until the load is stopped. */
export function startFaultLoad({ connect: open, clients, timeout = 5000 }: FaultLoadOptions): FaultLoad {
  const counts = new Map<Kind, Count>()
  const notes: string[] = []
  const over = new AbortController()
  const startedAt = performance.now()

  async function run(kind: Kind, count: Count): Promise<void> {
    let connection: RawConnection | undefined
    const leave = (): void => {
      if (connection?.isAnnounced) count.announced++
      if (connection?.isUnannounced) {
        count.unannounced++
        if (notes.length < 20) notes.push(`${at()} ${kind}: closed without a word after ${connection.answers} answers`)
      }
      connection?.close()
      connection = undefined
    }
    const at = (): string => `${Math.round(performance.now() - startedAt)} ms`
    while (!over.signal.aborted) {
      if (connection?.isClosed || connection?.isAnnounced) leave()
      if (!connection) {
        connection = new RawConnection(open(), timeout)
        count.connections++
      }
      const before = performance.now()
      const outcomes: Compared = await kinds[kind](connection)
      count.took(performance.now() - before)
      for (const outcome of outcomes)
        if (outcome === 'answered') count.answered++
        else if (outcome !== ANNOUNCED) {
          count.fail(outcome)
          if (notes.length < 20) notes.push(`${at()} ${kind}: ${outcome} after ${connection.answers} answers`)
        }
      if (kind === 'short') {
        // It was the client who said so.
        connection.close()
        connection = undefined
      }
      if (outcomes.some((outcome) => outcome !== 'answered')) {
        leave()
        // A server that is not there is not asked all the time.
        await wait(5)
      }
    }
    leave()
  }

  const running = (Object.entries(clients) as [Kind, number][]).flatMap(([kind, number]) => {
    const count = new Count()
    counts.set(kind, count)
    return Array.from({ length: number }, () => run(kind, count))
  })
  return {
    get answered() {
      return [...counts.values()].reduce((sum, { answered }) => sum + answered, 0)
    },
    get lost() {
      return [...counts.values()].reduce((sum, count) => sum + count.failed + count.announced + count.unannounced, 0)
    },
    async stop() {
      over.abort()
      await Promise.all(running)
      const total = new Count()
      for (const count of counts.values()) total.add(count, count.durations)
      const each = [...counts].map(([kind, count]) => [kind, count.outcome] as const)
      return {
        ...total.outcome,
        kinds: Object.fromEntries(each),
        reconnected: namesOf(each, (kind, { connections }) => kind !== 'short' && connections > clients[kind]!),
        unserved: namesOf(each, (_kind, { answered }) => answered === 0),
        notes,
      }
    },
  }
}

function namesOf(all: readonly (readonly [Kind, Outcome])[], isOne: (kind: Kind, outcome: Outcome) => boolean): Kind[] {
  return all.filter(([kind, outcome]) => isOne(kind, outcome)).map(([kind]) => kind)
}

/** Opens plaintext connections to a server on this machine. */
export function connectTo(port: number): () => Socket {
  return () => connect({ port, host: '127.0.0.1' })
}

/** Clients of each kind, as many as two cores answer at once. */
export const mixed: Partial<Record<Kind, number>> = {
  ...{ busy: 4, thinking: 16, short: 2, pipelining: 4, trickling: 4 },
  ...{ uploading: 4, posting: 2, slow: 6, streaming: 4 },
}

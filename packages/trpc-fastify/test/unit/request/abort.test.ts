// What a procedure learns of a client that goes away.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { initTRPC } from '@trpc/server'
import type { CreateFastifyContextOptions } from 'trpc-fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FAST_PATHS } from '../../helpers/fast-paths.ts'
import { type BothServers, type Server, serveBoth } from '../../helpers/both-servers.ts'
import type { Journal } from '../../helpers/journal.ts'

interface Context {
  readonly journal: Journal
  readonly info: CreateFastifyContextOptions['info']
  /** All signals that were looked at. */
  readonly signals: AbortSignal[]
}

const t = initTRPC.context<Context>().create({ isDev: false })

/** Resolves when the signal aborts, and gives why. */
async function abortOf(signal: AbortSignal): Promise<string> {
  if (!signal.aborted) await once(signal, 'abort')
  return (signal.reason as Error).name
}

const withMiddleware = t.procedure.use(async ({ next, signal, ctx }) => {
  if (signal) void abortOf(signal).then((reason) => ctx.journal.add(`middleware: ${reason}`))
  return next()
})

const router = t.router({
  waits: t.procedure.query(async ({ signal, ctx }) => {
    ctx.journal.add('called')
    ctx.journal.add(`resolver: ${await abortOf(signal!)}`)
  }),
  waitsWithInfo: t.procedure.query(async ({ ctx }) => {
    ctx.journal.add('called')
    ctx.journal.add(`resolver: ${await abortOf(ctx.info.signal)}`)
  }),
  waitsBehindMiddleware: withMiddleware.query(async ({ signal, ctx }) => {
    ctx.journal.add('called')
    ctx.journal.add(`resolver: ${await abortOf(signal!)}`)
  }),
  mutates: t.procedure.mutation(async ({ signal, ctx }) => {
    ctx.journal.add('called')
    ctx.journal.add(`resolver: ${await abortOf(signal!)}`)
  }),
  yields: t.procedure.query(async function* ({ signal, ctx }) {
    yield 1
    ctx.journal.add('called')
    ctx.journal.add(`resolver: ${await abortOf(signal!)}`)
  }),
  subscribes: t.procedure.subscription(async function* ({ signal, ctx }) {
    yield 1
    ctx.journal.add('called')
    ctx.journal.add(`resolver: ${await abortOf(signal!)}`)
  }),
  /** Looks at its signals for the first time when the client is gone. */
  looksLate: t.procedure.query(async (options) => {
    const { journal, info } = options.ctx
    journal.add('called')
    await journal.until('response closed')
    journal.add(`signal: ${options.signal!.aborted}, of info: ${info.signal.aborted}`)
    journal.add(`resolver: ${await abortOf(options.signal!)}`)
  }),
  answers: t.procedure.query(({ signal, ctx }) => {
    ctx.signals.push(signal!, ctx.info.signal)
    return 'answer'
  }),
  answersLater: t.procedure.mutation(async ({ signal, ctx }) => {
    ctx.signals.push(signal!, ctx.info.signal)
    await new Promise(setImmediate)
    return 'answer'
  }),
})

const get = (path: string, ...headers: string[]): string => request('GET', path, headers)
const post = (path: string, body: string): string =>
  `${request('POST', path, ['content-type: application/json', `content-length: ${body.length}`])}${body}`
const request = (method: string, path: string, headers: string[]): string =>
  [`${method} /trpc/${path} HTTP/1.1`, 'host: localhost', ...headers, '', ''].join('\r\n')

/** Sends a request on a connection of its own. */
async function send({ port }: Server, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

/** What the journal has of what procedures saw; those of a batch come in no order. */
const seen = ({ journal }: Server): string[] =>
  journal.entries
    .map(String)
    .filter((entry) => entry.includes(': '))
    .toSorted()

describe.each(FAST_PATHS)('with fastPath %s', (fastPath) => {
  let both: BothServers
  const signalsOf = new Map<Journal, AbortSignal[]>()
  /** Whether the signals aborted that were looked at since this was asked for. */
  const aborted = ({ journal }: Server): boolean[] =>
    signalsOf
      .get(journal)!
      .splice(0)
      .map((signal) => signal.aborted)

  beforeAll(async () => {
    both = await serveBoth<typeof router>((journal) => {
      signalsOf.set(journal, [])
      return {
        fastPath,
        trpcOptions: {
          router,
          async createContext({ req, res, info }) {
            res.raw.once('close', () => journal.add('response closed'))
            if (req.headers['x-wait']) {
              journal.add('called')
              journal.add(`context: ${await abortOf(info.signal)}`)
            }
            return { journal, info, signals: signalsOf.get(journal)! }
          },
          onError: ({ path, error }) => journal.add(`onError: ${path} ${error.code}`),
        },
      }
    })
  })

  afterAll(() => both.close())

  /** What procedures saw after the client went away in the middle of so many calls. */
  const afterLeaving = (
    text: string,
    calls = 1,
    leave = (socket: Socket): unknown => socket.destroy(),
  ): Promise<string[]> =>
    both.onBoth(async (server) => {
      const { journal } = server
      const socket = await send(server, text)
      await journal.untilSome((entry) => entry === 'called', calls)
      expect(journal.entries).not.toContain('response closed')
      leave(socket)
      await journal.untilSome((entry) => String(entry).startsWith('resolver: '), calls)
      await journal.until('response closed')
      socket.destroy()
      return seen(server)
    })

  it.each([
    ['a query', get('waits'), 'waits'],
    ['a query that looks at `info.signal`', get('waitsWithInfo'), 'waitsWithInfo'],
    ['a mutation', post('mutates', '{}'), 'mutates'],
    ['a streamed query', get('yields?batch=1', 'trpc-accept: application/jsonl'), 'yields'],
    ['a subscription', get('subscribes', 'accept: text/event-stream'), 'subscribes'],
  ])('the signal of %s aborts when the client disconnects', async (_name, text) => {
    expect(await afterLeaving(text)).toEqual(['resolver: AbortError'])
  })

  it('the signal aborts when the client resets the connection', async () => {
    const leave = (socket: Socket): unknown => socket.resetAndDestroy()
    expect(await afterLeaving(get('waits'), 1, leave)).toEqual(['resolver: AbortError'])
  })

  it('the signal aborts when the client ends its side of the connection', async () => {
    const leave = (socket: Socket): unknown => socket.end()
    expect(await afterLeaving(get('waits'), 1, leave)).toEqual(['resolver: AbortError'])
  })

  it('the signal of a middleware aborts', async () => {
    expect(await afterLeaving(get('waitsBehindMiddleware'))).toEqual(['middleware: AbortError', 'resolver: AbortError'])
  })

  it('the signal of createContext aborts', async () => {
    const results = await both.onBoth(async (server) => {
      const socket = await send(server, get('answers', 'x-wait: 1'))
      await server.journal.until('called')
      socket.destroy()
      await server.journal.until('context: AbortError')
      return seen(server)
    })
    expect(results).toEqual(['context: AbortError'])
  })

  it('the signal aborts for each call of a batch', async () => {
    const text = get('waits,waitsWithInfo,waits?batch=1')
    expect(await afterLeaving(text, 3)).toEqual(Array.from({ length: 3 }, () => 'resolver: AbortError'))
  })

  it('the signal is already aborted if it is first read after the client disconnected', async () => {
    const expected = ['resolver: AbortError', 'signal: true, of info: true']
    expect(await afterLeaving(get('looksLate'))).toEqual(expected)
  })

  it('the signals of a batch are already aborted if they are first read after the client disconnected', async () => {
    const results = await afterLeaving(get('looksLate,looksLate?batch=1'), 2)
    expect(results.filter((line) => line.startsWith('signal'))).toEqual([
      'signal: true, of info: true',
      'signal: true, of info: true',
    ])
  })

  it.each([
    ['a query', get('answers')],
    ['a slow mutation', post('answersLater', '{}')],
    ['a batch', get('answers,answers?batch=1')],
    ['a streamed batch', get('answers?batch=1', 'trpc-accept: application/jsonl')],
  ])('the signal of %s never aborts after the response', async (_name, text) => {
    const results = await both.onBoth(async (server) => {
      aborted(server)
      const socket = await send(server, text)
      const { journal } = server
      // The end of the answer: with a length, or with the last chunk.
      let answer = ''
      for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
        answer += String(chunk)
        const [head, body = ''] = answer.split('\r\n\r\n')
        const length = /content-length: (\d+)/.exec(head!)?.[1]
        if (length === undefined ? answer.endsWith('0\r\n\r\n') : body.length === Number(length)) break
      }
      await journal.until('response closed')
      socket.destroy()
      while ((await connectionsOf(server)) > 0) await new Promise(setImmediate)
      return signalsOf
        .get(journal)!
        .splice(0)
        .map((signal) => signal.aborted)
    })
    expect(results.length).toBeGreaterThan(1)
    expect(results).not.toContain(true)
  })

  it('aborts the pending request of a connection, and not an earlier one that has its response', async () => {
    const results = await both.onBoth(async (server) => {
      aborted(server)
      const socket = await send(server, get('answers'))
      await server.journal.until('response closed')
      socket.write(get('waits'))
      await server.journal.until('called')
      socket.destroy()
      await server.journal.until('resolver: AbortError')
      return signalsOf
        .get(server.journal)!
        .splice(0)
        .map((signal) => signal.aborted)
    })
    expect(results).toEqual([false, false])
  })
})

function connectionsOf({ app }: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}

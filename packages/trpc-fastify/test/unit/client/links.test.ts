// tRPC's own client, with every link for queries and mutations, against tRPC's own adapter and against ours.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BothServers, serveBoth } from '../../helpers/both-servers.ts'
import {
  type Connection,
  errorsTold,
  failure,
  HTTP_LINKS,
  outcome,
  outcomes,
  overWebSocket,
} from '../../helpers/connections.ts'
import { type AppRouter, makeRouter, optionsFor } from '../../helpers/router.ts'

let both: BothServers

beforeAll(async () => {
  const router = makeRouter()
  both = await serveBoth<AppRouter>((journal) => ({ useWSS: true, trpcOptions: optionsFor(router, journal) }))
})

afterAll(() => both.close())

/** Calls of each kind; those of a type are one batch. */
const callAll = ({ client }: Connection): Promise<Record<string, unknown>> =>
  outcomes({
    greet: client.greet.query({ name: 'Zoë & co. + 100 %' }),
    nothing: client.nothing.query(),
    list: client.nested.deeper.list.query(),
    refused: client.refused.query(7),
    broken: client.broken.query(),
    wrong: client.greet.query({ name: '' }),
    add: client.add.mutate({ a: 1, b: 2 }),
    reject: client.reject.mutate(),
  })

const ANSWERS = {
  greet: { data: 'Hello Zoë & co. + 100 %' },
  nothing: { data: undefined },
  list: { data: [1, null, { two: 2 }] },
  refused: failure('Not for you', -32003, { code: 'FORBIDDEN', httpStatus: 403, path: 'refused', input: 7 }),
  broken: failure('out of everything', -32603, { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500, path: 'broken' }),
  wrong: failure(expect.stringContaining('Too small') as string, -32600, {
    code: 'BAD_REQUEST',
    httpStatus: 400,
    path: 'greet',
    input: { name: '' },
    issues: ['Too small: expected string to have >=1 characters'],
  }),
  add: { data: 3 },
  reject: failure('Taken', -32009, { code: 'CONFLICT', httpStatus: 409, path: 'reject' }),
}

const ERRORS_TOLD = [
  'onError: broken (query) INTERNAL_SERVER_ERROR',
  'onError: greet (query) BAD_REQUEST',
  'onError: refused (query) FORBIDDEN',
  'onError: reject (mutation) CONFLICT',
]

describe.each(Object.entries(HTTP_LINKS))('%s', (_name, connect) => {
  it('gets the results and errors of procedures', async () => {
    const results = await both.onBoth(async (server) => ({
      ...(await callAll(connect(server))),
      told: errorsTold(server),
    }))
    expect(results).toEqual({ ...ANSWERS, told: ERRORS_TOLD })
  })

  it('gets the same status and content type', async () => {
    const exchanges = await both.onBoth(async (server) => {
      const connection = connect(server)
      await callAll(connection)
      return connection.exchanges.map(({ method, status, type }) => `${method} ${status} ${type}`).toSorted()
    })
    expect(exchanges.length).toBeGreaterThan(1)
    expect(exchanges.every((line) => line.endsWith('application/json'))).toBe(true)
  })

  it('finds nested and lazy procedures, and no others', async () => {
    const results = await both.onBoth(async (server) => {
      const { client } = connect(server)
      const lost = client as unknown as { lost: { query(): Promise<unknown> } }
      return outcomes({
        loaded: client.lazy.loaded.query(),
        again: client.lazy.loaded.query(),
        lost: lost.lost.query(),
      })
    })
    expect(results).toEqual({
      loaded: { data: 'a lazy router' },
      again: { data: 'a lazy router' },
      lost: failure('No procedure found on path "lost"', -32004, { code: 'NOT_FOUND', httpStatus: 404, path: 'lost' }),
    })
  })

  it('sends headers that createContext reads', async () => {
    const results = await both.onBoth((server) =>
      outcomes({
        somebody: connect(server, 'Ada').client.whoAmI.query(),
        nobody: connect(server, 'nobody').client.whoAmI.query(),
      }),
    )
    expect(results).toEqual({
      somebody: { data: { user: 'Ada', params: null } },
      nobody: failure('Who are you?', -32001, { code: 'UNAUTHORIZED', httpStatus: 401, path: 'whoAmI' }),
    })
  })
})

describe.each(['httpLink', 'httpBatchLink'])('%s', (name) => {
  it('fails for results that only a stream can carry', async () => {
    const results = await both.onBoth((server) => outcome(HTTP_LINKS[name]!(server).client.harmlessPromise.query()))
    expect(results).toMatchObject({ shape: { data: { code: 'UNSUPPORTED_MEDIA_TYPE', httpStatus: 415 } } })
  })
})

it.each(Object.keys(HTTP_LINKS).filter((name) => name !== 'httpBatchStreamLink by accept'))(
  '%s takes the fast path',
  async (name) => {
    const before = both.ours.app.trpcStats('/trpc')!
    const { client } = HTTP_LINKS[name]!(both.ours)
    await client.greet.query({ name: 'Ada' })
    await client.add.mutate({ a: 1, b: 2 })
    expect(both.ours.app.trpcStats('/trpc')).toEqual({ ...before, compiled: before.compiled + 2 })
  },
)

describe.each(Object.keys(HTTP_LINKS).filter((name) => name.startsWith('httpBatchStreamLink')))('%s', (name) => {
  const connect = HTTP_LINKS[name]!

  it('gets each result of a batch as soon as it is ready', async () => {
    const order = await both.onBoth(async (server) => {
      const { client, exchanges } = connect(server)
      const arrived: string[] = []
      const slow = client.when.query('second is there').then((data) => arrived.push(data))
      const refused = outcome(client.refused.query(1)).then(() => arrived.push('refused'))
      const quick = client.when.query('asked').then((data) => arrived.push(data))
      server.journal.add('asked')
      await Promise.all([quick, refused])
      server.journal.add('second is there')
      await slow
      return { arrived: [...arrived.slice(0, 2).toSorted(), arrived[2]], requests: exchanges.length }
    })
    expect(order).toEqual({ arrived: ['asked', 'refused', 'second is there'], requests: 1 })
  })

  it('iterates over the values of a procedure as they arrive', async () => {
    const results = await both.onBoth(async (server) => {
      const numbers: unknown[] = []
      const iterable = await connect(server).client.numbers.query({ to: 3 })
      for await (const { number } of iterable) {
        numbers.push(number)
        server.journal.add(`client has ${number}`)
      }
      await server.journal.until('numbers end')
      return { numbers, told: errorsTold(server) }
    })
    expect(results).toEqual({ numbers: [1, 2, 3], told: [] })
  })

  it('throws an error of the procedure in mid-iteration', async () => {
    const results = await both.onBoth(async (server) => {
      const numbers: unknown[] = []
      const { client } = connect(server)
      const [iterable, beside] = await Promise.all([
        client.numbers.query({ to: 3, failAt: 2 }),
        client.greet.query({ name: 'beside it' }),
      ])
      const end = await outcome(
        (async () => {
          for await (const { number } of iterable) {
            numbers.push(number)
            server.journal.add(`client has ${number}`)
          }
        })(),
      )
      await server.journal.until('numbers end')
      return { numbers, beside, end, told: errorsTold(server) }
    })
    expect(results).toMatchObject({
      numbers: [1],
      beside: 'Hello beside it',
      end: failure('No 2', -32009, { code: 'CONFLICT', httpStatus: 409, path: 'numbers', input: { to: 3, failAt: 2 } }),
    })
    expect(results.told).toHaveLength(1)
  })

  it('gets promises within a result, each when it settles', async () => {
    const results = await both.onBoth(async (server) => {
      const { now, later } = await connect(server).client.promises.query()
      server.journal.add('client waits')
      const { deeper, rejected } = await later
      return { now, ...(await outcomes({ deeper, rejected })), told: errorsTold(server) }
    })
    expect(results).toMatchObject({
      now: 1,
      deeper: { data: 2 },
      rejected: failure('Not there', -32004, { code: 'NOT_FOUND', httpStatus: 404, path: 'promises' }),
    })
  })

  it('ends an iterating procedure when the client aborts', async () => {
    const results = await both.onBoth(async (server) => {
      const controller = new AbortController()
      const iterable = await connect(server).client.endlessQuery.query(undefined, { signal: controller.signal })
      const got: unknown[] = []
      const end = await outcome(
        (async () => {
          for await (const value of iterable) {
            got.push(value)
            controller.abort()
          }
        })(),
      ).catch((error: unknown) => String(error))
      await server.journal.until('ends, aborted: true')
      return { got, end }
    })
    expect(results).toMatchObject({ got: ['first'] })
  })
})

describe('wsLink', () => {
  it('gets the results and errors of procedures', async () => {
    const results = await both.onBoth(async (server) => {
      const connection = overWebSocket(server)
      const answers = await callAll(connection)
      await connection.close()
      return { ...answers, told: errorsTold(server) }
    })
    expect(results).toEqual({ ...ANSWERS, told: ERRORS_TOLD })
  })

  it('sends connectionParams that createContext reads', async () => {
    const results = await both.onBoth(async (server) => {
      const connection = overWebSocket(server, { user: 'Ada' })
      const result = await outcome(connection.client.whoAmI.query())
      await connection.close()
      return result
    })
    expect(results).toEqual({ data: { user: null, params: { user: 'Ada' } } })
  })

  it('gets each result as soon as it is ready', async () => {
    const order = await both.onBoth(async (server) => {
      const connection = overWebSocket(server)
      const arrived: string[] = []
      const slow = connection.client.when.query('second is there').then((data) => arrived.push(data))
      const quick = connection.client.when.query('asked').then((data) => arrived.push(data))
      server.journal.add('asked')
      await quick
      server.journal.add('second is there')
      await slow
      await connection.close()
      return arrived
    })
    expect(order).toEqual(['asked', 'second is there'])
  })
})

// Files and forms by tRPC's own client, against tRPC's own adapter and against ours.

import { httpBatchLink, httpLink, isNonJsonSerializable, splitLink } from '@trpc/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BothServers, serveBoth } from '../../helpers/both-servers.ts'
import { type Connection, errorsTold, outcome, overHttp } from '../../helpers/connections.ts'
import { type AppRouter, makeRouter, optionsFor } from '../../helpers/router.ts'
import { HAS } from '../../helpers/peer-versions.ts'

let both: BothServers

beforeAll(async () => {
  const router = makeRouter()
  both = await serveBoth<AppRouter>((journal) => ({ trpcOptions: optionsFor(router, journal) }))
})

afterAll(() => both.close())

const connect = overHttp((options) =>
  splitLink({
    condition: ({ input }) => isNonJsonSerializable(input),
    true: httpLink(options),
    false: httpBatchLink(options),
  }),
)

/** The outcome of a call, what was answered, and what `onError` was told. */
const call = (send: (client: Connection['client']) => Promise<unknown>): Promise<Record<string, unknown>> =>
  both.onBoth(async (server) => {
    const { client, exchanges } = connect(server)
    return { outcome: await outcome(send(client)), exchanges, told: errorsTold(server) }
  })

const formOf = (text: string): FormData => {
  const form = new FormData()
  form.set('note', 'Über 100 %')
  form.set('file', new File([text], 'a file.txt', { type: 'text/plain' }))
  return form
}

it('receives a form with a file', async () => {
  expect(await call((client) => client.upload.mutate(formOf('content')))).toEqual({
    outcome: { data: { note: 'Über 100 %', name: 'a file.txt', type: 'text/plain', text: 'content' } },
    exchanges: [{ method: 'POST', status: 200, type: 'application/json' }],
    told: [],
  })
})

it(`a form above maxBodySize ${HAS.maxBodySize ? 'is refused' : 'arrives, as this tRPC does not know the option'}`, async () => {
  const text = 'x'.repeat(20_000)
  const result = await call((client) => client.upload.mutate(formOf(text)))
  expect(result).toMatchObject(
    HAS.maxBodySize
      ? {
          outcome: { shape: { data: { code: 'PAYLOAD_TOO_LARGE', httpStatus: 413, path: 'upload' } } },
          exchanges: [{ method: 'POST', status: 413, type: 'application/json' }],
          told: ['onError: upload (mutation) PAYLOAD_TOO_LARGE'],
        }
      : {
          outcome: { data: { text } },
          exchanges: [{ method: 'POST', status: 200, type: 'application/json' }],
          told: [],
        },
  )
})

it('rejects a form for an input that is an object', async () => {
  const result = await call((client) => client.add.mutate(formOf('content') as unknown as { a: number; b: number }))
  expect(result).toMatchObject({ outcome: { shape: { data: { code: 'BAD_REQUEST', path: 'add' } } } })
})

it('rejects JSON for an input that is a form', async () => {
  const result = await call((client) => client.upload.mutate({ file: 'content' } as unknown as FormData))
  expect(result).toMatchObject({ outcome: { shape: { data: { code: 'BAD_REQUEST', path: 'upload' } } } })
})

// The official adapter adds no content type parser for it, and neither does ours.
it.each([
  ['a file', () => new File(['content'], 'a.bin')],
  ['bytes', () => new Uint8Array([1, 2, 3])],
])('%s on its own is refused by Fastify', async (_name, makeInput) => {
  const result = await call((client) => client.octets.mutate(makeInput()))
  expect(result).toMatchObject({
    outcome: { failed: expect.any(String) as string },
    exchanges: [{ method: 'POST', status: 415, type: 'application/json; charset=utf-8' }],
    told: [],
  })
})

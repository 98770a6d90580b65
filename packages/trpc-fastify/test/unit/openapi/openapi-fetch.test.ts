// A client by openapi-typescript and openapi-fetch. The types stand in a file, so that `tsc` checks the calls below.

import swagger from '@fastify/swagger'
import { openApiTypes } from '@test/openapi-types'
import { initTRPC, TRPCError } from '@trpc/server'
import Fastify, { type FastifyInstance } from 'fastify'
import createClient, { type Client } from 'openapi-fetch'
import { openApiPlugin, type OpenApiMeta } from 'trpc-fastify/openapi'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import type { paths } from '../../fixtures/openapi-client/paths.ts'

const t = initTRPC.meta<OpenApiMeta>().create({ isDev: false })
const id = z.number().int()
const note = z.object({ id, text: z.string(), tags: z.array(z.string()), due: z.date().nullable() })
const notes = new Map<number, z.infer<typeof note>>()

const router = t.router({
  notes: t.router({
    list: t.procedure
      .meta({ openapi: { method: 'GET', path: '/notes' } })
      .input(z.object({ tags: z.array(z.string()).optional(), limit: z.number().int().max(100).default(10) }))
      .output(z.object({ notes: z.array(note), limit: z.number() }))
      .query(({ input: { tags = [], limit } }) => {
        const found = [...notes.values()].filter((one) => tags.every((tag) => one.tags.includes(tag)))
        return { notes: found.slice(0, limit), limit }
      }),
    get: t.procedure
      .meta({ openapi: { method: 'GET', path: '/notes/{id}', errorResponses: { 400: 'Invalid', 404: 'Unknown' } } })
      .input(z.object({ id }))
      .output(note)
      .query(({ input }) => existing(input.id)),
    put: t.procedure
      .meta({ openapi: { method: 'PUT', path: '/notes/{id}', errorResponses: [400] } })
      .input(note)
      .output(note)
      .mutation(({ input }) => {
        notes.set(input.id, input)
        return input
      }),
    remove: t.procedure
      .meta({ openapi: { method: 'DELETE', path: '/notes/{id}', errorResponses: [404] } })
      .input(z.object({ id }))
      .output(z.void())
      .mutation(({ input }) => {
        notes.delete(existing(input.id).id)
      }),
  }),
})

function existing(wanted: number): z.infer<typeof note> {
  const found = notes.get(wanted)
  if (!found) throw new TRPCError({ code: 'NOT_FOUND', message: `No note ${wanted}` })
  return found
}

let app: FastifyInstance
let client: Client<paths>
beforeAll(async () => {
  app = Fastify()
  await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'Notes', version: '1.0.0' } } })
  await app.register(openApiPlugin, { prefix: '/api', trpcOptions: { router } })
  client = createClient<paths>({ baseUrl: await app.listen({ host: '127.0.0.1', port: 0 }) })
})
afterAll(() => app.close())

it('generates these types from the document', async () => {
  const types = await openApiTypes(JSON.stringify(app.swagger()))
  await expect(types).toMatchFileSnapshot('../../fixtures/openapi-client/paths.ts')
})

it('sends and reads bodies, path and query parameters', async () => {
  const body = { text: 'Buy milk', tags: ['home', 'food'], due: '2026-12-01T00:00:00.000Z' }
  const put = await client.PUT('/api/notes/{id}', { params: { path: { id: 7 } }, body })
  expect(put.error).toBeUndefined()
  expect(put.data).toEqual({ id: 7, ...body })

  const { data } = await client.GET('/api/notes', { params: { query: { tags: ['home', 'food'], limit: 5 } } })
  const texts: string[] | undefined = data?.notes.map(({ text }) => text)
  expect([texts, data?.limit]).toEqual([['Buy milk'], 5])
  const others = await client.GET('/api/notes', { params: { query: { tags: ['work'] } } })
  expect(others.data).toEqual({ notes: [], limit: 10 })

  const found = await client.GET('/api/notes/{id}', { params: { path: { id: 7 } } })
  const due: string | null | undefined = found.data?.due
  expect(due).toBe(body.due)

  const removed = await client.DELETE('/api/notes/{id}', { params: { path: { id: 7 } } })
  expect([removed.response.status, removed.error]).toEqual([200, undefined])
})

it('reads errors as the document has them', async () => {
  const { data, error, response } = await client.GET('/api/notes/{id}', { params: { path: { id: 8 } } })
  const message: string | undefined = error?.message
  expect([data, response.status, message]).toEqual([undefined, 404, 'No note 8'])
  expect(error).toEqual({ statusCode: 404, code: 'NOT_FOUND', error: 'Not Found', message: 'No note 8' })
})

it('cannot call what the document does not have', async () => {
  // @ts-expect-error a path that is not there
  const unknown = await client.GET('/api/hidden')
  expect(unknown.response.status).toBe(404)
  // @ts-expect-error a text in place of a number
  const text = await client.GET('/api/notes/{id}', { params: { path: { id: 'seven' } } })
  expect(text.response.status).toBe(400)
  // @ts-expect-error a body without `tags` and `due`
  const incomplete = await client.PUT('/api/notes/{id}', { params: { path: { id: 7 } }, body: { text: 'Buy milk' } })
  expect(incomplete.response.status).toBe(400)
})

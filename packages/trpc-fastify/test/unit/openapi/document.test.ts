// The document of OpenAPI 3.1 that @fastify/swagger makes of the routes, and a page that shows it.

import swagger from '@fastify/swagger'
import apiReference from '@scalar/fastify-api-reference'
import { initTRPC } from '@trpc/server'
import Fastify from 'fastify'
import { openApiPlugin, type OpenApiMeta } from 'trpc-fastify/openapi'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'

const t = initTRPC.meta<OpenApiMeta>().create()
const user = z.object({ id: z.number().int(), name: z.string(), born: z.date().optional() })
const router = t.router({
  users: t.router({
    get: t.procedure
      .meta({
        openapi: { method: 'GET', path: '/users/{id}', summary: 'One user', tags: ['users'], errorResponses: [404] },
      })
      .input(z.object({ id: z.number().int(), full: z.boolean().default(false) }))
      .output(user)
      .query(({ input }) => ({ id: input.id, name: 'Ada' })),
    rename: t.procedure
      .meta({ openapi: { method: 'PATCH', path: '/users/{id}', protect: false, deprecated: true } })
      .input(z.object({ id: z.number().int(), name: z.string() }))
      .output(user)
      .mutation(({ input }) => input),
  }),
  hidden: t.procedure.query(() => 'secret'),
})

it('has parameters, bodies and responses of the schemas, and a page shows it', async () => {
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'Users', version: '1.0.0' } } })
  await app.register(apiReference, { routePrefix: '/reference' })
  await app.register(openApiPlugin, { prefix: '/api', trpcOptions: { router } })
  await app.ready()
  const { openapi, paths } = app.swagger() as unknown as {
    openapi: string
    paths: Record<string, Record<string, unknown>>
  }
  expect(openapi).toBe('3.1.0')
  expect(Object.keys(paths)).toEqual(['/api/users/{id}'])
  expect(JSON.stringify(paths)).not.toContain('x-coerce')
  const { get, patch } = paths['/api/users/{id}']!
  const integer = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
  const content = (schema: unknown) => ({ content: { 'application/json': { schema } } })
  const returned = {
    type: 'object',
    properties: { id: integer, name: { type: 'string' }, born: { type: 'string', format: 'date-time' } },
    required: ['id', 'name'],
    additionalProperties: false,
  }
  expect(get).toMatchObject({
    operationId: 'users-get',
    summary: 'One user',
    tags: ['users'],
    parameters: [
      { name: 'full', in: 'query', required: false, schema: { type: 'boolean', default: false } },
      { name: 'id', in: 'path', required: true, schema: integer },
    ],
    responses: { 200: { description: 'Successful response', ...content(returned) }, 404: { description: 'Error' } },
  })
  expect(patch).toMatchObject({
    operationId: 'users-rename',
    deprecated: true,
    security: [],
    requestBody: content({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }),
  })
  const page = await app.inject('/reference/')
  expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
})

it('has schemas with a name, such as of zod, in place', async () => {
  const name = z.object({ first: z.string() }).meta({ id: 'Name' })
  const person = z.object({ name, others: z.array(name) }).meta({ id: 'Person', description: 'A person' })
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(swagger, { openapi: { openapi: '3.1.0' } })
  const meta: OpenApiMeta = { openapi: { method: 'POST', path: '/people' } }
  const people = t.procedure
    .meta(meta)
    .input(person)
    .output(z.object({ person }))
    .mutation(({ input }) => ({ person: input }))
  await app.register(openApiPlugin, { trpcOptions: { router: t.router({ people }) } })
  await app.ready()
  const { paths } = app.swagger() as unknown as { paths: Record<string, { post: Record<string, unknown> }> }
  const named = {
    type: 'object',
    properties: { first: { type: 'string' } },
    required: ['first'],
  }
  expect(JSON.stringify(paths)).not.toContain('$ref')
  const schema = {
    type: 'object',
    description: 'A person',
    properties: { name: named, others: { type: 'array', items: named } },
  }
  expect(paths['/people']!.post).toMatchObject({
    requestBody: { content: { 'application/json': { schema } } },
    responses: { 200: { content: { 'application/json': { schema: { properties: { person: schema } } } } } },
  })
  const payload = { name: { first: 'Ada' }, others: [] }
  expect((await app.inject({ method: 'POST', url: '/people', payload })).json()).toEqual({ person: payload })
})

it('has no content for a response without a body', async () => {
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(swagger, { openapi: { openapi: '3.1.0' } })
  const remove = t.procedure
    .meta({ openapi: { method: 'DELETE', path: '/all' } })
    .output(z.void())
    .mutation(() => {})
  await app.register(openApiPlugin, { trpcOptions: { router: t.router({ remove }) } })
  await app.ready()
  expect(app.swagger().paths!['/all']!.delete!.responses).toEqual({ 200: { description: 'Successful response' } })
})

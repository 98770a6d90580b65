import { type AnyTRPCRouter, initTRPC } from '@trpc/server'
import Fastify from 'fastify'
import { openApiPlugin, type OpenApiMeta } from 'trpc-fastify/openapi'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const t = initTRPC.meta<OpenApiMeta>().create()
const at = (method: 'GET', path: `/${string}`) => t.procedure.meta({ openapi: { method, path } })

describe('invalid meta rejects with a code and one line', () => {
  const tree: z.ZodType = z.object({
    get children() {
      return z.array(tree)
    },
  })
  const named: z.ZodType = z
    .object({
      get parent() {
        return named.optional()
      },
    })
    .meta({ id: 'Named' })
  const path = (one: string) => ({ openapi: { method: 'GET', path: one } }) as OpenApiMeta
  const reject = (one: object, input?: z.ZodType) => {
    const procedure = t.procedure.meta(one)
    return t.router({ it: (input ? procedure.input(input) : procedure).query(() => 1) })
  }
  it.each<[router: AnyTRPCRouter, message: string]>([
    [
      reject({ openapi: { method: 'HEAD', path: '/a' } }),
      'meta.openapi.method of procedure "it": expected "GET" or "POST" or "PATCH" or "PUT" or "DELETE", got "HEAD".',
    ],
    [
      reject({ openapi: { method: 'GET', path: '/a', enabeld: false } }),
      'meta.openapi.enabeld of procedure "it": unknown. Did you mean "enabled"?',
    ],
    [
      reject({ openapi: { method: 'GET', path: '/a', errorResponses: ['x'] } }),
      'meta.openapi.errorResponses[0] of procedure "it": expected an integer from 400 to 599, got "x".',
    ],
    [reject({ openapi: 'GET /a' }), 'meta.openapi of procedure "it": expected an object, got "GET /a".'],
    ...['a', '/a/:id', '/a/*', '/a//b', '/a/{id', '/a?b', '/a/', '/{a}-{b}', '/a(b)'].map(
      (one): [AnyTRPCRouter, string] => [
        reject(path(one)),
        `meta.openapi.path of procedure "it": expected segments such as "/users/{id}", got "${one}".`,
      ],
    ),
    [
      reject(path('/{id}/{id}')),
      'meta.openapi.path of procedure "it": expected parameters with different names, got "/{id}/{id}".',
    ],
    [reject(path('/{id}')), 'meta.openapi.path of procedure "it": expected parameters of the input, got {id}.'],
    [
      reject(path('/a'), z.string()),
      'meta.openapi of procedure "it": expected an input whose JSON schema is an object',
    ],
    [
      reject(path('/a'), tree),
      'meta.openapi of procedure "it": expected an input without circular or invalid schemas, got "Cycle detected',
    ],
    [
      t.router({
        it: at('GET', '/a')
          .output(tree)
          .query(() => 1),
      }),
      'meta.openapi of procedure "it": expected an output without circular or invalid schemas, got "Cycle detected',
    ],
    [
      reject(path('/a'), named),
      'meta.openapi of procedure "it": expected an input without circular or invalid schemas, got "Cycle detected',
    ],
    [
      reject({ openapi: { method: 'GET', path: '/a', contentTypes: ['multipart/form-data'] } }),
      'meta.openapi.contentTypes[0] of procedure "it": expected "application/json" or "application/x-www-form-urlencoded", got "multipart/form-data".',
    ],
    [
      reject({ openapi: { method: 'GET', path: '/a', errorResponses: [200] } }),
      'meta.openapi.errorResponses[0] of procedure "it": expected an integer from 400 to 599, got 200.',
    ],
    [
      t.router({ it: at('GET', '/a').mutation(() => 1) }),
      'meta.openapi.method of procedure "it": expected POST, PATCH, PUT or DELETE for a mutation, got GET.',
    ],
    [
      t.router({
        it: at('GET', '/a').subscription(async function* () {
          yield 1
        }),
      }),
      'meta.openapi of procedure "it": expected a query or mutation, got a subscription.',
    ],
    [
      t.router({
        a: at('GET', '/a/{id}')
          .input(z.object({ id: z.string() }))
          .query(() => 1),
        b: at('GET', '/a/{name}')
          .input(z.object({ name: z.string() }))
          .query(() => 1),
      }),
      'meta.openapi.path of procedure "b": expected a route of its own, got GET /a/{name}, which collides with a.',
    ],
    [
      t.router({ a: t.router({ b: at('GET', '/a').query(() => 1) }), 'a-b': at('GET', '/b').query(() => 1) }),
      'meta.openapi.operationId of procedure "a-b": expected a name of its own, got "a-b", which a.b has.',
    ],
    [
      reject({ openapi: { method: 'GET', path: '/a', operationId: 7 } }),
      'meta.openapi.operationId of procedure "it": expected a string, got 7.',
    ],
    [
      reject({ openapi: { method: 'GET', path: '/a', enabled: 'no' } }),
      'meta.openapi.enabled of procedure "it": expected a boolean, got "no".',
    ],
    ...(
      [
        ['summary', 7, 'a string, got 7'],
        ['description', {}, 'a string, got an object'],
        ['successDescription', 7, 'a string, got 7'],
        ['operationId', '', 'a string that is not empty, got ""'],
        ['tags', 'users', 'an array, each item a string, got "users"'],
        ['protect', 'false', 'a boolean, got "false"'],
        ['deprecated', 'yes', 'a boolean, got "yes"'],
        ['contentTypes', [], 'some of application/json, application/x-www-form-urlencoded, got none'],
        [
          'errorResponses',
          404,
          'an array, each item an integer from 400 to 599 or an object of descriptions by such statuses, got 404',
        ],
        [
          'errorResponses',
          { 404: 5 },
          'an array, each item an integer from 400 to 599 or an object of descriptions by such statuses, got an object',
        ],
      ] as const
    ).map(([name, value, problem]): [AnyTRPCRouter, string] => [
      reject({ openapi: { method: 'GET', path: '/a', [name]: value } }),
      `meta.openapi.${name} of procedure "it": expected ${problem}.`,
    ]),
    [reject({ openapi: null }), 'meta.openapi of procedure "it": expected an object, got null.'],
    [
      reject({ openapi: { method: 'GET', path: '/a', 'sum mary': '' } }),
      'meta.openapi["sum mary"] of procedure "it": unknown. Did you mean "summary"?',
    ],
  ])('%#', async (invalidRouter, message) => {
    const app = Fastify()
    const registered = app.register(openApiPlugin, { trpcOptions: { router: invalidRouter } })
    const error = await Promise.resolve(registered).then(
      () => undefined,
      (cause: Error & { code: string }) => cause,
    )
    expect(error).toMatchObject({
      code: 'TRPC_FASTIFY_INVALID_OPENAPI',
      message: expect.stringContaining(`Invalid ${message}`) as string,
    })
    expect(error!.message).not.toContain('\n')
  })
})

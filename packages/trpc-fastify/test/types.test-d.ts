// What users rely on inference for. Only the compiler looks at this file.

import { initTRPC, type TRPCError } from '@trpc/server'
import type {
  CreateFastifyContextOptions as OfficialContextOptions,
  FastifyTRPCPluginOptions,
} from '@trpc/server/adapters/fastify'
import type { TRPCRequestInfo } from '@trpc/server/http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import trpcFastify, {
  createTrpcFastify,
  type CreateFastifyContextOptions,
  type CreateTrpcFastifyOptions,
  errorCodes,
  type FallbackReason,
  trpcPlugin,
  type TrpcPluginOptions,
  type TrpcStats,
} from 'trpc-fastify'
import { expectTypeOf } from 'vitest'

interface Context {
  user: string | null
}

const t = initTRPC.context<Context>().create()
const appRouter = t.router({ hello: t.procedure.query(({ ctx }) => `Hello ${ctx.user}`) })
type AppRouter = typeof appRouter

const plain = initTRPC.create()
const plainRouter = plain.router({ hello: plain.procedure.query(() => 'Hello') })

const app = Fastify()

// The types of the official adapter, which the package declares anew because they need `@types/ws`

type Own = TrpcPluginOptions<AppRouter>['trpcOptions']
type Official = FastifyTRPCPluginOptions<AppRouter>['trpcOptions']
expectTypeOf<{ [Name in keyof Own]: Own[Name] }>().toEqualTypeOf<{ [Name in keyof Official]: Official[Name] }>()
expectTypeOf<Official>().toExtend<Own>()
expectTypeOf<Own>().toExtend<Official>()
expectTypeOf<CreateFastifyContextOptions>().toEqualTypeOf<OfficialContextOptions>()
expectTypeOf<FastifyTRPCPluginOptions<AppRouter>>().toExtend<TrpcPluginOptions<AppRouter>>()

// The context

expectTypeOf<CreateFastifyContextOptions>().toEqualTypeOf<{
  req: FastifyRequest
  res: FastifyReply
  info: TRPCRequestInfo
}>()

const createContext = ({ req }: CreateFastifyContextOptions): Context => ({ user: req.hostname })

await app.register(trpcPlugin<AppRouter>, {
  prefix: '/trpc',
  trpcOptions: {
    router: appRouter,
    createContext({ req, res, info }) {
      expectTypeOf(req).toEqualTypeOf<FastifyRequest>()
      expectTypeOf(res).toEqualTypeOf<FastifyReply>()
      expectTypeOf(info).toEqualTypeOf<TRPCRequestInfo>()
      return { user: req.hostname }
    },
    onError({ error, ctx, req, path, type }) {
      expectTypeOf(error).toEqualTypeOf<TRPCError>()
      expectTypeOf(ctx).toEqualTypeOf<Context | undefined>()
      expectTypeOf(req).toEqualTypeOf<FastifyRequest>()
      expectTypeOf(path).toEqualTypeOf<string | undefined>()
      expectTypeOf(type).toEqualTypeOf<'query' | 'mutation' | 'subscription' | 'unknown'>()
    },
    responseMeta({ ctx, errors }) {
      expectTypeOf(ctx).toEqualTypeOf<Context | undefined>()
      expectTypeOf(errors).toEqualTypeOf<TRPCError[]>()
      return { status: 200 }
    },
  },
})

// As the official plugin is used: the router is not named, `satisfies` gives the types.

await app.register(trpcPlugin, {
  prefix: '/trpc',
  trpcOptions: {
    router: appRouter,
    createContext,
    onError({ error, ctx, path }) {
      expectTypeOf(error).toEqualTypeOf<TRPCError>()
      expectTypeOf(ctx).toEqualTypeOf<Context | undefined>()
      expectTypeOf(path).toEqualTypeOf<string | undefined>()
    },
  } satisfies TrpcPluginOptions<AppRouter>['trpcOptions'],
})

const wrongContext = { router: appRouter, createContext: () => ({ user: 5 }) }
// @ts-expect-error The context has another shape than the router's.
wrongContext satisfies TrpcPluginOptions<AppRouter>['trpcOptions']

const withoutContext = { router: appRouter }
// @ts-expect-error The router has a context, so something must create it.
withoutContext satisfies TrpcPluginOptions<AppRouter>['trpcOptions']

const anotherRouter = { router: plainRouter, createContext }
// @ts-expect-error This is another router.
anotherRouter satisfies TrpcPluginOptions<AppRouter>['trpcOptions']

const mounted = { router: plainRouter }
// @ts-expect-error A misspelt option is found by the compiler.
await app.register(trpcPlugin<typeof plainRouter>, { prefx: '/trpc', trpcOptions: mounted })
// @ts-expect-error Without a router there is nothing to serve.
await app.register(trpcPlugin<typeof plainRouter>, { prefix: '/trpc' })

// The default export

expectTypeOf(trpcFastify).toEqualTypeOf(trpcPlugin)

await app.register(import('trpc-fastify'), { prefix: '/trpc', trpcOptions: mounted })
await app.register(trpcFastify<AppRouter>, {
  prefix: '/trpc',
  trpcOptions: {
    router: appRouter,
    createContext({ req, res }) {
      expectTypeOf(req).toEqualTypeOf<FastifyRequest>()
      expectTypeOf(res).toEqualTypeOf<FastifyReply>()
      return { user: req.hostname }
    },
  },
})
// @ts-expect-error A misspelt option is found by the compiler.
await app.register(import('trpc-fastify'), { prefx: '/trpc', trpcOptions: mounted })
// @ts-expect-error Without a router there is nothing to serve.
await app.register(import('trpc-fastify'), { prefix: '/trpc' })

// The plugin's own options

type FastPath = TrpcPluginOptions<AppRouter>['fastPath']
expectTypeOf<FastPath>().toEqualTypeOf<boolean | undefined>()
// @ts-expect-error There is no such value.
'compiled' satisfies FastPath

// The errors

expectTypeOf<
  InstanceType<typeof errorCodes.TRPC_FASTIFY_INVALID_OPTION>['code']
>().toEqualTypeOf<'TRPC_FASTIFY_INVALID_OPTION'>()

// The factory

expectTypeOf(await createTrpcFastify({ router: plainRouter })).toEqualTypeOf<FastifyInstance>()
expectTypeOf(createTrpcFastify({ router: appRouter, createContext })).toEqualTypeOf<Promise<FastifyInstance>>()

await createTrpcFastify({
  router: appRouter,
  prefix: '/trpc',
  fastPath: false,
  fastify: { logger: true },
  createContext({ req, res, info }) {
    expectTypeOf(req).toEqualTypeOf<FastifyRequest>()
    expectTypeOf(res).toEqualTypeOf<FastifyReply>()
    expectTypeOf(info).toEqualTypeOf<TRPCRequestInfo>()
    return { user: null }
  },
  onError({ ctx }) {
    expectTypeOf(ctx).toEqualTypeOf<Context | undefined>()
  },
})

// @ts-expect-error The router has a context, so something must create it.
await createTrpcFastify({ router: appRouter })

// @ts-expect-error The context has another shape than the router's.
await createTrpcFastify({ router: appRouter, createContext: () => ({ user: 5 }) })

// @ts-expect-error A misspelt option is found by the compiler.
await createTrpcFastify({ router: plainRouter, prefx: '/trpc' })

// @ts-expect-error Without a router there is nothing to serve.
await createTrpcFastify({ prefix: '/trpc' })

expectTypeOf<CreateTrpcFastifyOptions<AppRouter>['router']>().toEqualTypeOf<AppRouter>()

// The decorator

expectTypeOf(app.trpcStats('/trpc')).toEqualTypeOf<TrpcStats | undefined>()
expectTypeOf(app.trpcStats('/trpc')?.fallback).toEqualTypeOf<
  Readonly<Partial<Record<FallbackReason, number>>> | undefined
>()

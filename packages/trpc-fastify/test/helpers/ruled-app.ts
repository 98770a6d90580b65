// An app whose procedures have rules, which hold on the fast path and in tRPC's own adapter.

import { initTRPC, lazy } from '@trpc/server'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { trpcPlugin, type TrpcPluginOptions } from 'trpc-fastify'
import { onTestFinished } from 'vitest'
import { routing } from './peer-versions.ts'

const t = initTRPC.create({ isDev: false })

const router = t.router({
  hello: t.procedure.query(() => 'world'),
  post: t.router({
    list: t.procedure.query(() => ['first', 'second']),
    add: t.procedure.input(String).mutation(({ input }) => input.length),
    comment: t.router({ list: t.procedure.query(() => ['nice']) }),
  }),
  admin: lazy(() => Promise.resolve({ adminRouter: t.router({ health: t.procedure.query(() => 'healthy') }) })),
})

type Options = Omit<TrpcPluginOptions<typeof router>, 'trpcOptions'>

/** Serves the router at `/trpc` until the test ends; what `prepare` makes of the app may be used in the options. */
export async function serveRuled(
  makeOptions: (app: FastifyInstance) => Options,
  { fastify, prepare }: { fastify?: FastifyServerOptions; prepare?: (app: FastifyInstance) => unknown } = {},
): Promise<FastifyInstance> {
  const app = Fastify({ ...routing({ maxParamLength: 1000 }), ...fastify })
  onTestFinished(() => app.close())
  await prepare?.(app)
  await app.register(trpcPlugin<typeof router>, { prefix: '/trpc', trpcOptions: { router }, ...makeOptions(app) })
  return app
}

/** Address of a batch of queries. */
export const batchOf = (...paths: string[]): string => `/trpc/${paths.join(',')}?batch=1`

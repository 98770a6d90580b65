// Serves the router three times, to compare the cost of each option.

import type { AnyTRPCRouter, TRPCError } from '@trpc/server'
import type { FastifyTRPCPluginOptions } from '@trpc/server/adapters/fastify'
import { appRouter, type AppRouter, type Context } from './router.ts'

type Options<TRouter extends AnyTRPCRouter> = FastifyTRPCPluginOptions<TRouter>

const createContext = ({ req }: { req: { headers: Record<string, string | string[] | undefined> } }): Context => ({
  user: String(req.headers['x-user'] ?? 'guest'),
})

export const responseMeta = ({ errors }: { errors: readonly TRPCError[] }): { headers?: Record<string, string> } =>
  errors.length === 0 ? { headers: { 'cache-control': 'max-age=1' } } : {}

export const onError = ({ error, path }: { error: TRPCError; path: string | undefined }): void => {
  if (error.code === 'INTERNAL_SERVER_ERROR') console.error(path, error)
}

export const mounts: (Options<AppRouter> & { prefix: string })[] = [
  { prefix: '/trpc', trpcOptions: { router: appRouter } },
  { prefix: '/context', trpcOptions: { router: appRouter, createContext } },
  { prefix: '/full', trpcOptions: { router: appRouter, createContext, responseMeta, onError } },
]

// Factory
export { createTrpcFastify } from './create-trpc-fastify.ts'

// Plugin
export { trpcPlugin, type TrpcRequestCounts } from './plugin.ts'

// Options
export type { CreateTrpcFastifyOptions, EngineOption, TrpcHandlerOptions, TrpcPluginOptions } from './options.ts'
export type { CreateFastifyContextOptions } from '@trpc/server/adapters/fastify'
export type { OfficialReason } from './request.ts'

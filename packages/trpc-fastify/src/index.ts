// Factory
export { createTrpcFastify } from './create-trpc-fastify.ts'

// Plugin
export { trpcPlugin, trpcPlugin as default, type TrpcRequestCounts } from './plugin.ts'

// WebSockets
export { reconnectOnClose } from './websocket.ts'

// Options
export type { EndedCall } from './procedure/interceptors/interceptor.ts'
export type { ProcedureRule, RateLimitResult } from './procedure/rules.ts'
export type { SerializerOption } from './procedure/serializer.ts'
export type { CreateTrpcFastifyOptions, EngineOption, TrpcHandlerOptions, TrpcPluginOptions } from './options/types.ts'
export type { CreateFastifyContextOptions } from '@trpc/server/adapters/fastify'
export type { OfficialReason } from './request/parse-request.ts'

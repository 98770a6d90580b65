// Factory
export { createTrpcFastify } from './create-trpc-fastify.ts'

// Plugin
export { trpcPlugin, trpcPlugin as default, type TrpcRequestCounts } from './plugin.ts'

// WebSockets
export { reconnectOnClose } from './web-sockets.ts'

// Options
export type { EndedCall } from './around-calls.ts'
export type { ProcedureRule, RateLimitResult } from './procedure-rules.ts'
export type { SerializerOption } from './serializer.ts'
export type { CreateTrpcFastifyOptions, EngineOption, TrpcHandlerOptions, TrpcPluginOptions } from './options.ts'
export type { CreateFastifyContextOptions } from '@trpc/server/adapters/fastify'
export type { OfficialReason } from './read-request.ts'

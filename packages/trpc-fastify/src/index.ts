// Factory
export { createTrpcFastify } from './create-trpc-fastify.ts'

// Plugin
export { trpcPlugin, trpcPlugin as default } from './plugin.ts'
export type { FallbackReason } from './request/parse-request.ts'
export type { TrpcRequestCounts } from './serve-router.ts'

// WebSockets
export { reconnectOnClose } from './websocket.ts'

// Options
export type {
  CreateTrpcFastifyOptions,
  EndedCall,
  EngineOption,
  ProcedureRule,
  RateLimitResult,
  SerializerOption,
  TrpcHandlerOptions,
  TrpcPluginOptions,
} from './options/types.ts'
export type { CreateFastifyContextOptions } from '@trpc/server/adapters/fastify'

// Checked by `tsc --noEmit`.

import type { Span } from '@opentelemetry/api'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { expectTypeOf } from 'vitest'
import {
  type CallEnd,
  createAggregatorGateway,
  type GatewayObserver,
  type ObservedCall,
  type OpenApiResponse,
  typedCall,
} from '../src/index.ts'
import { openTelemetryObserver } from '../src/observability/opentelemetry.ts'
import { prometheusObserver } from '../src/observability/prometheus.ts'

const upstreams = { it: 'http://localhost:1' }

expectTypeOf(
  createAggregatorGateway({
    upstreams,
    endpoints: [
      {
        path: '/one',
        calls: { profile: { upstream: 'it', path: '/' }, orders: { upstream: 'it', path: '/', optional: true } },
        compose(values, request) {
          expectTypeOf(values).toEqualTypeOf<{ readonly profile: unknown; readonly orders: unknown }>()
          expectTypeOf(request).toEqualTypeOf<FastifyRequest>()
          return values
        },
      },
      {
        path: '/two',
        calls: { other: { upstream: 'it', path: '/' } },
        compose: ({ other }) => other,
      },
      {
        path: '/three',
        calls: { other: { upstream: 'it', path: '/' } },
        // @ts-expect-error there is no such call
        compose: ({ profile }) => profile,
      },
      { path: '/four', passThrough: { upstream: 'it', path: '/' } },
      {
        path: '/five',
        calls: { five: { upstream: 'it', path: '/' } },
        compose: ({ five }) => five,
      },
      // @ts-expect-error it is one or the other
      { path: '/six', calls: { six: { upstream: 'it', path: '/' } }, passThrough: { upstream: 'it', path: '/' } },
      // @ts-expect-error it is neither
      { path: '/seven' },
      {
        path: '/eight',
        // @ts-expect-error no upstream
        calls: { eight: { path: '/' } },
      },
    ],
  }),
).toEqualTypeOf<Promise<FastifyInstance>>()

// Calls have the types of an OpenAPI document, in the form of openapi-typescript.
interface paths {
  '/users/{id}': {
    get: { responses: { 200: { content: { 'application/json': { name: string } } }; 404: { content: never } } }
    put?: never
  }
}
type User = OpenApiResponse<paths, '/users/{id}'>
expectTypeOf<User>().toEqualTypeOf<{ name: string }>()
expectTypeOf<OpenApiResponse<paths, '/users/{id}', 'put'>>().toEqualTypeOf<never>()

await createAggregatorGateway({
  upstreams,
  endpoints: [
    {
      path: '/typed',
      calls: {
        user: typedCall<User>({ upstream: 'it', path: '/' }),
        maybe: typedCall<User>({ upstream: 'it', path: '/', optional: true }),
        when: typedCall<User>({ upstream: 'it', path: '/', when: '{query.a}' }),
        each: typedCall<User>({ upstream: 'it', path: '/{item}', forEach: '{query.a}' }),
        other: { upstream: 'it', path: '/' },
      },
      compose({ user, maybe, when, each, other }) {
        expectTypeOf(user).toEqualTypeOf<User>()
        expectTypeOf(maybe).toEqualTypeOf<User | null>()
        expectTypeOf(when).toEqualTypeOf<User | null>()
        expectTypeOf(each).toEqualTypeOf<(User | null)[] | null>()
        expectTypeOf(other).toEqualTypeOf<unknown>()
        return user.name
      },
    },
  ],
})

// What an observer has returned at the start comes back, with its type.
const timed: GatewayObserver<{ at: number }> = {
  callStarted(call, request, headers) {
    expectTypeOf(call).toEqualTypeOf<ObservedCall>()
    expectTypeOf(request).toEqualTypeOf<FastifyRequest>()
    expectTypeOf(headers).toEqualTypeOf<Record<string, string>>()
    return { at: 1 }
  },
  callEnded(_call, end, state) {
    expectTypeOf(end).toEqualTypeOf<CallEnd>()
    expectTypeOf(state).toEqualTypeOf<{ at: number }>()
  },
}
// @ts-expect-error it is to return a number
const wrong: GatewayObserver<number> = { callStarted: () => 'one' }

expectTypeOf(openTelemetryObserver()).toEqualTypeOf<GatewayObserver<Span>>()

await createAggregatorGateway({
  upstreams,
  endpoints: [
    {
      path: '/one',
      calls: { one: { upstream: 'it', path: '/', schema: { type: 'object' } } },
      route: {
        preHandler(request, reply, done) {
          expectTypeOf(request).toEqualTypeOf<FastifyRequest>()
          expectTypeOf(reply).toExtend<FastifyReply>()
          done()
        },
        config: { rateLimit: { max: 1 } },
      },
    },
  ],
  // Those of any state go together.
  observers: [
    timed,
    wrong,
    prometheusObserver(),
    openTelemetryObserver(),
    { callEnded: (_call, { duration }) => void duration },
  ],
  callLogLevel: 'info',
  status: { path: '/status', route: { onRequest: async () => {} } },
})

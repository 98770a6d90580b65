// Checked by `tsc --noEmit`.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { expectTypeOf } from 'vitest'
import { createAggregatorGateway } from '../src/index.ts'

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
    ],
  }),
).toEqualTypeOf<Promise<FastifyInstance>>()

import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { expect, it } from 'vitest'

it('a tRPC query costs at most twice as much CPU as a plain route', async () => {
  const subjects = { app: './src/server.ts', 'plain-route': './test/plain-route.ts' }
  // Fastify names the charset of JSON, tRPC does not.
  const greet = { path: '/trpc/greet?input=%22Ada%22', compareHeaders: [] }
  const query = race(subjects, { cases: { greet } })
  await expect(query).toOutpace('plain-route', { atLeast: 0.5, metric: 'cpu' })
})

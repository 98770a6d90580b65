// The primary: workers, probes and metrics.

import { randomBytes } from 'node:crypto'
import { createClusteredServer } from 'clustered-server'
import { pino } from 'pino'

const number = (name: string, standard: number): number => Number(process.env[name] ?? standard)

const server = await createClusteredServer(new URL('app.ts', import.meta.url), {
  host: process.env['HOST'] ?? '127.0.0.1',
  port: number('PORT', 3000),
  workers: number('WORKERS', 2),
  // One secret for all workers, also after a reload. Several hosts need the same one.
  env: { SESSION_SECRET: process.env['SESSION_SECRET'] ?? randomBytes(32).toString('base64url') },
  readyPath: '/health',
  admin: {
    port: number('ADMIN_PORT', 3001),
    host: process.env['ADMIN_HOST'] ?? '127.0.0.1',
    ...(process.env['AGENT_PORT'] !== undefined && { agentPort: number('AGENT_PORT', 3002) }),
  },
  // `/ready` returns 503 immediately; connections are accepted until load balancers have noticed.
  shutdownDelay: number('SHUTDOWN_DELAY', 0),
  drainTimeout: number('DRAIN_TIMEOUT', 10_000),
  logger: pino(),
})
console.log(`port: ${server.port}\nadmin port: ${server.admin?.port}`)

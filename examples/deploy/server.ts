// The primary. Docker, Kubernetes and systemd run `node server.ts`.

import { createClusteredServer } from 'clustered-server'

const number = (name: string, standard: number): number => Number(process.env[name] ?? standard)

const server = await createClusteredServer(new URL('app.ts', import.meta.url), {
  workers: 'auto',
  port: number('PORT', 3000),
  ...(process.env['HOST'] && { host: process.env['HOST'] }),
  // Probes come from inside the network: they have ports of their own.
  admin: {
    port: number('ADMIN_PORT', 3001),
    agentPort: number('AGENT_PORT', 3002),
    host: process.env['ADMIN_HOST'] ?? '0.0.0.0',
  },
  // `/ready` returns 503 immediately; connections are accepted until load balancers have noticed.
  shutdownDelay: number('SHUTDOWN_DELAY', 5000),
  drainTimeout: number('DRAIN_TIMEOUT', 20_000),
})
console.log(`port: ${server.port}\nadmin port: ${server.admin?.port}`)

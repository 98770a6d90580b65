// Upstreams and gateways in processes of their own, which end with the test.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Remains } from '../fixtures/gateway-server.ts'

interface Started {
  url: string
  process: ChildProcess
  /** Says something to it, and gives its answer. */
  tell: (what: string) => Promise<unknown>
}

async function start(file: string, env: Record<string, string>): Promise<Started> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production', ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [{ port }] = (await once(child, 'message')) as [AddressInfo]
  return {
    url: `http://127.0.0.1:${port}`,
    process: child,
    tell: async (what) => {
      child.send(what)
      return ((await once(child, 'message')) as [unknown])[0]
    },
  }
}

/** An upstream; of a `port` that was taken before. */
export function startUpstream(port = 0): Promise<Started> {
  return start('../fixtures/upstream-server.ts', { PORT: String(port) })
}

/** A gateway before these upstreams. */
export function startGateway(upstreams: readonly Started[], env: Record<string, string> = {}): Promise<Started> {
  return start('../fixtures/gateway-server.ts', { UPSTREAMS: upstreams.map(({ url }) => url).join(','), ...env })
}

/** What is left in a gateway. */
export async function remainsOf(gateway: Started): Promise<Remains> {
  return (await gateway.tell('what remains?')) as Remains
}

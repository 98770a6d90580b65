// The servers of the lab: plain ones, of which one works for a while before each response.

import { fileURLToPath } from 'node:url'
import type { CommandSubject } from '../src/index.ts'

/** @param spin - microseconds of work for each request */
export function plainServer(spin = 0): CommandSubject {
  const file = fileURLToPath(new URL('spinning-server.ts', import.meta.url))
  return { command: [process.execPath, file], env: { SPIN: String(spin) } }
}

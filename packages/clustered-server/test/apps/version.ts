import type { Server } from 'node:http'
import faults from './faults.ts'

/** An app whose version, which its environment tells, may be a bad one. */
export default async function version(): Promise<Server> {
  switch (process.env['VERSION']) {
    case 'throws':
      throw new Error('no such table')
    case 'exits':
      process.exit(3)
    case 'hangs':
      await new Promise(() => setInterval(() => {}, 1000))
      break
    case 'blocks':
      for (;;);
    case 'does not listen': {
      const server = faults()
      server.listen = () => server
      return server
    }
    case 'dies as it listens': {
      const server = faults()
      server.listen = () => process.exit(4)
      return server
    }
  }
  return faults()
}

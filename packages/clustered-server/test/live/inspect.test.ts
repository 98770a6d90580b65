import { expect, it } from 'vitest'
import { freePort } from '../helpers/free-port.ts'
import { settled, startServer } from '../helpers/running-server.ts'

it.each(['flag', 'NODE_OPTIONS'])('lets each worker debug on a port of its own, by %s', async (way) => {
  // One for this process, and one for each worker that it starts.
  const port = await freePort(4)
  const flag = `--inspect=127.0.0.1:${port}`
  const server = await startServer(
    'hello.ts',
    way === 'flag' ? { execArgv: [flag] } : { execArgv: [], env: { NODE_OPTIONS: flag } },
  )
  await settled(server)
  const targets = await Promise.all(
    server.status().workers.map(async ({ id }) => {
      const response = await fetch(`http://127.0.0.1:${port + id}/json/list`)
      return ((await response.json()) as unknown[]).length
    }),
  )
  expect(targets).toEqual([1, 1, 1])
})

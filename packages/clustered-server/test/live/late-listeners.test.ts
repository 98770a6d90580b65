import { expect, it } from 'vitest'
import { freePort } from '../helpers/free-port.ts'
import { startServer } from '../helpers/running-server.ts'

it.each([1, 2])('reports where the app listens instead of the port, with %i workers', async (workers) => {
  const [port, own] = [await freePort(), await freePort()]
  const env = { OWN_PORT: String(own) }
  const text = `nothing listened on port ${port} within 3000 ms: the app listens on port ${own}`
  await expect(startServer('listens-elsewhere.ts', { workers, port, env, startTimeout: 3000 })).rejects.toMatchObject({
    code: 'CLUSTERED_SERVER_START_FAILED',
    message: expect.stringMatching(new RegExp(`^.*: ${text}$`)) as string,
  })
})

it.each([1, 2])('reports a remedy for an app that runs but does not listen, with %i workers', async (workers) => {
  const port = await freePort()
  const text = `nothing listened on port ${port} within 2000 ms: it has no default export, only port; export the app, or have it listen on process.env.PORT`
  await expect(startServer('exports-nothing.ts', { workers, port, startTimeout: 2000 })).rejects.toMatchObject({
    code: 'CLUSTERED_SERVER_START_FAILED',
    message: expect.stringMatching(new RegExp(`^.*: ${text.replaceAll('.', '\\.')}$`)) as string,
  })
})

it('waits for an app that listens some time after its import, with one process too', async () => {
  const port = await freePort()
  const { PORT } = process.env
  const server = await startServer('listens-later.ts', { workers: 1, port })
  expect(process.env['PORT']).toBe(PORT)
  expect(server.port).toBe(port)
  const response = await fetch(`http://127.0.0.1:${port}/pid`, { headers: { connection: 'close' } })
  expect(await response.text()).toBe(String(process.pid))
  await server.close()
})

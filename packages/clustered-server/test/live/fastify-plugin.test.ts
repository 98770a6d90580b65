import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Command } from '../helpers/command.ts'
import { startServer } from '../helpers/running-server.ts'
import { copyPackage } from '../helpers/without-workspace.ts'

describe.each([1, 2])('with %i workers', (workers) => {
  it.each(['plugin.ts', 'async-listener.ts'])('serves an app of the form %s', async (app) => {
    const server = await startServer(app, { workers })
    for (let time = 0; time < 4; time++) {
      const response = await fetch(`http://127.0.0.1:${server.port}/echo/${time}`, { headers: { connection: 'close' } })
      expect([response.status, await response.text()]).toEqual([200, String(time)])
    }
    // None has died of a request.
    expect(server.status().workers.filter(({ id }) => id > 3)).toEqual([])
  })

  it('passes the exported options to the instance and none to the plugin', async () => {
    const server = await startServer('marked-plugin.ts', { workers })
    const response = await fetch(`http://127.0.0.1:${server.port}`)
    expect(await response.json()).toEqual({ pid: expect.any(Number), given: {}, bodyLimit: 12_345 })
  })

  it('reports in one line that a plugin needs Fastify', async () => {
    const { folder, cli } = copyPackage({ 'app.js': 'export default async function (fastify, opts) {}\n' })
    const args = [join(folder, 'app.js'), '--workers', String(workers), '--port', '0']
    // What runs vitest may have Node look for packages elsewhere too.
    const command = new Command(args, { NODE_PATH: '' }, [], cli)
    onTestFinished(() => command.end())
    expect(await command.exit).toBe(1)
    expect(command.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([
      expect.stringMatching(
        /^clustered-server: .*app\.js exports a plugin of Fastify, which needs fastify beside it: npm install fastify$/,
      ),
    ])
  })
})

it.each([
  [1, 'CLUSTERED_SERVER_INVALID_APP', /^Expected .*no-app\.ts to have a default export .*; got number$/],
  [2, 'CLUSTERED_SERVER_INVALID_APP', /^Worker \d did not start: Expected .*no-app\.ts to have .*; got number$/],
])('rejects with the code of the fault, with %i workers', async (workers, code, message) => {
  await expect(startServer('no-app.ts', { workers })).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message) as string,
  })
})

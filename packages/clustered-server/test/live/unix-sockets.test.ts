import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { appPath, Command } from '../helpers/command.ts'
import { startFaultLoad } from '../helpers/fault-load.ts'
import { settled, startServer } from '../helpers/running-server.ts'

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'clustered-server-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'app.sock')
}

async function pidAt(socketPath: string): Promise<string> {
  const request = get({ socketPath, path: '/pid', agent: false })
  const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream]
  return text(response)
}

/** Leaves a socket behind, as a process that was killed does. */
async function leaveSocket(path: string): Promise<void> {
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  await once(spawn(process.execPath, ['--eval', script]), 'close')
  expect(statSync(path).isSocket()).toBe(true)
}

describe.each([1, 2])('workers: %i', (workers) => {
  it.each(['faults.ts', 'fastify.ts', 'listens-later.ts', 'koa.ts'])(
    '%s listens on a UNIX socket, whose file is removed at the end',
    async (app) => {
      const path = newPath()
      const server = await startServer(app, { workers, port: path })
      expect(server).toMatchObject({ port: 0, host: '', path })
      expect(server.status().ready).toBe(true)
      expect(await pidAt(path)).toMatch(/^\d+$/)
      await server.close()
      expect(existsSync(path)).toBe(false)
    },
  )

  it('removes a stale socket file', async () => {
    const path = newPath()
    await leaveSocket(path)
    await startServer('faults.ts', { workers, port: path })
    expect(await pidAt(path)).toMatch(/^\d+$/)
  })

  it('keeps the socket of a running server, and fails with EADDRINUSE', async () => {
    const path = newPath()
    const other = createServer((socket) => socket.on('error', () => {}).end('other')).listen(path)
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    await expect(startServer('faults.ts', { workers, port: path })).rejects.toMatchObject({
      code: 'CLUSTERED_SERVER_CANNOT_LISTEN',
      message: expect.stringMatching(/^Cannot listen on .*app\.sock: \w+ EADDRINUSE: [^\n]*$/) as string,
    })
    expect(await text(connect(path))).toBe('other')
  })

  it('keeps a file that is not a socket, and fails with EADDRINUSE', async () => {
    const path = newPath()
    writeFileSync(path, 'precious')
    await expect(startServer('faults.ts', { workers, port: path })).rejects.toMatchObject({
      code: 'CLUSTERED_SERVER_CANNOT_LISTEN',
    })
    expect(statSync(path).size).toBe(8)
  })
})

it('shares a UNIX socket between the workers, and loses no request or connection by reloads', async () => {
  const path = newPath()
  const server = await startServer('faults.ts', { port: path })
  await settled(server)
  const clients = { busy: 2, thinking: 8, short: 1, slow: 4, streaming: 2, uploading: 2 }
  const load = startFaultLoad({ connect: () => connect(path), clients })
  for (let reload = 0; reload < 2; reload++) await server.reload()
  const report = await load.stop()
  expect(report).toMatchObject({ notes: [], failed: 0, announced: 0, unannounced: 0, reconnected: [], unserved: [] })
  const pids = new Set<string>()
  await expect.poll(async () => pids.add(await pidAt(path)).size, { timeout: 30_000 }).toBe(2)
})

it.each(['--port', 'PORT'])(
  'the command takes the path of a socket by %s, and lets only its owner connect',
  async (by) => {
    const path = newPath()
    const args = [appPath('faults'), '--workers', '2', ...(by === '--port' ? [by, path] : [])]
    const umask = ['sh', '-c', 'umask 022; exec "$0" "$@"']
    const command = new Command(args, by === 'PORT' ? { PORT: path } : {}, umask)
    onTestFinished(() => command.end())
    expect(await command.listening()).toMatchObject({ msg: `listening on ${path}: 2 workers`, path })
    expect((statSync(path).mode & 0o777).toString(8)).toBe('755')
    expect(await pidAt(path)).toMatch(/^\d+$/)
    command.kill('SIGTERM')
    expect(await command.exit).toBe(0)
    expect(existsSync(path)).toBe(false)
  },
)

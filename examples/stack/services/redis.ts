import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

/** Starts Redis or Valkey without a port, on a UNIX socket. `undefined` where neither is installed. */
export async function startRedis(folder: string): Promise<{ child: ChildProcess; url: string } | undefined> {
  const url = join(folder, 'redis.sock')
  const options = ['--port', '0', '--unixsocket', url, '--unixsocketperm', '700', '--save', '', '--dir', folder]
  for (const program of ['redis-server', 'valkey-server']) {
    const child = spawn(program, options, { stdio: ['ignore', 'pipe', 'ignore'] })
    if (await isReady(child)) return { child, url }
  }
  return undefined
}

function isReady(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('exit', () => resolve(false))
    child.stdout?.on('data', (text: Buffer) => text.toString().includes('eady to accept') && resolve(true))
  })
}

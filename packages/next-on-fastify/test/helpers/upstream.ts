// A server that is the target of a rewrite in test/fixtures/app, and a build that rewrites to it.

import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { WebSocketServer } from 'ws'

export interface Upstream {
  readonly port: number
  close(): void
}

/** Starts a server that responds with the URL, and accepts a WebSocket only after a while, to which it sends the URL. */
export async function startUpstream(): Promise<Upstream> {
  const sockets = new WebSocketServer({ noServer: true })
  const server = createServer(({ url }, response) => void response.end(`upstream ${url}`))
  server.on('upgrade', async (request, socket, head) => {
    await setTimeout(200)
    sockets.handleUpgrade(request, socket, head, (accepted) => accepted.send(`socket ${request.url}`))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const client of sockets.clients) client.terminate()
      server.close()
    },
  }
}

/** Copies a build of the app, and lets the copy rewrite to a port. */
export function rewritingCopy(built: string, port: number): { readonly dir: string; remove(): void } {
  const dir = mkdtempSync(join(built, '../copy-'))
  cpSync(built, dir, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  const manifest = join(dir, '.next/routes-manifest.json')
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replaceAll('127.0.0.1:1/', `127.0.0.1:${port}/`))
  return { dir, remove: () => rmSync(dir, { recursive: true }) }
}

// Varnish and nginx in front of an app, each on a UNIX socket.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { requireProgram } from '@test/required-program'

export const hasVarnish: boolean = requireProgram('varnishd', 'varnish varnish-modules')
export const hasNginx: boolean = requireProgram('nginx', 'nginx')

/** What came back. */
export interface Through {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** A cache in front of an app. */
export interface FrontCache {
  ask(path: string, headers?: Readonly<Record<string, string>>, method?: string): Promise<Through>
  close(): Promise<void>
}

/** Varnish with xkey. `PURGE` with the header `xkey-purge` removes all responses with one of these tags. */
export async function startVarnish(port: number): Promise<FrontCache> {
  const folder = folderForAll('varnish-')
  const config = join(folder, 'default.vcl')
  writeFileSync(
    config,
    `vcl 4.1;
import xkey;
backend default { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_recv {
  if (req.method == "PURGE") { return (synth(200, "purged " + xkey.purge(req.http.xkey-purge))); }
  // Next sends no Cache-Control with them, so Varnish would store them by its default.
  if (req.url ~ "^/(change|api)") { return (pass); }
}
sub vcl_deliver { set resp.http.x-hits = obj.hits; }
`,
  )
  const socket = join(folder, 'socket')
  const args = ['-F', '-n', join(folder, 'run'), '-a', `${socket},mode=666`, '-f', config, '-s', 'malloc,64M']
  return started(spawn('varnishd', [...args, '-p', 'vcc_allow_inline_c=off']), folder, socket)
}

/** nginx, where a request with the header `x-refresh` replaces the cached response. */
export async function startNginx(port: number): Promise<FrontCache> {
  const folder = folderForAll('nginx-')
  const socket = join(folder, 'socket')
  const config = join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => {
    return `${name}_temp_path ${folder}/${name};`
  })
  writeFileSync(
    config,
    `daemon off; pid ${folder}/nginx.pid; error_log stderr;
events {}
http {
  access_log off;
  ${temporary.join(' ')}
  proxy_cache_path ${folder}/cache keys_zone=pages:1m;
  server {
    listen unix:${socket};
    location / {
      proxy_pass http://127.0.0.1:${port};
      proxy_cache pages;
      proxy_cache_key $uri$is_args$args;
      proxy_cache_bypass $http_x_refresh;
      proxy_buffer_size 16k; proxy_buffers 8 16k; proxy_busy_buffers_size 32k;
      add_header x-cached $upstream_cache_status;
    }
  }
}
`,
  )
  return started(spawn('nginx', ['-c', config, '-e', 'stderr']), folder, socket)
}

/** A folder that the users can enter to which these programs switch. */
function folderForAll(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), name))
  chmodSync(folder, 0o755)
  return folder
}

async function started(child: ChildProcess, folder: string, socketPath: string): Promise<FrontCache> {
  const ended = once(child, 'exit')
  let printed = ''
  child.stderr?.on('data', (text: Buffer) => (printed += text.toString()))
  child.stdout?.resume()
  const ask: FrontCache['ask'] = (path, headers = {}, method = 'GET') =>
    new Promise((resolve, reject) => {
      const sent = request({ socketPath, path, method, headers: { host: 'app.example', ...headers } }, (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (text: string) => (body += text))
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
      })
      sent.on('error', reject)
      sent.end()
    })
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`It has ended: ${printed}`)
    const isReady = await ask('/ready').then(
      () => true,
      () => false,
    )
    if (isReady) break
    await wait(50)
  }
  return {
    ask,
    async close() {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

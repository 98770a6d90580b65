// Varnish and nginx in front of an app, each on a UNIX socket.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
  const documented = documentedConfig('vcl').replace('"3000"', `"${port}"`)
  // Varnish sees clients of a UNIX socket as 0.0.0.0.
  const open = documented.replace('{ "127.0.0.1"; }', '{ "0.0.0.0"; }')
  writeFileSync(config, `${open}sub vcl_deliver { set resp.http.x-hits = obj.hits; }\n`)
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
  const documented = documentedConfig('nginx')
    .replace('/var/cache/nginx-next', `${folder}/cache`)
    .replace('listen 80', `listen unix:${socket}`)
    .replace('127.0.0.1:3000', `127.0.0.1:${port}`)
    .replace('proxy_cache next;', 'proxy_cache next; add_header x-cached $upstream_cache_status;')
  writeFileSync(
    config,
    `daemon off; pid ${folder}/nginx.pid; error_log stderr;
events {}
http {
  access_log off;
  ${temporary.join(' ')}
${documented}}
`,
  )
  return started(spawn('nginx', ['-c', config, '-e', 'stderr']), folder, socket)
}

/** A configuration in the documentation, which is what the tests run. */
function documentedConfig(language: string): string {
  const page = readFileSync(new URL('../../docs/cdn.md', import.meta.url), 'utf8')
  return new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(page)![1]!
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

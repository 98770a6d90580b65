// Servers that can be reloaded, each as its documentation has it, with the same app.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import getPort from 'get-port'
import { findWatt, wattFolder } from './watt.ts'

const run = promisify(execFile)

const HOST = '127.0.0.1'
const WORKERS = '2'
/** Milliseconds that a server may take to start and to reload. */
const PATIENCE = 30_000

export interface ReloadingServer {
  readonly port: number
  /** Resolves when new processes have taken over, and the old ones have gone, where they do not wait for clients. */
  reload: () => Promise<void>
}

export interface ReloadingSubject {
  /** A program that no npm package of this repository installs. */
  readonly program?: string
  start: () => Promise<ReloadingServer>
}

const path = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url))
const ofPackage = (file: string): string => path(`packages/clustered-server/${file}`)
const environment = (more: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  // Scripts of npm packages look for `node` here.
  PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
  NODE_ENV: 'production',
  HOST,
  WORKERS,
  ...more,
})

export const reloadingServers: Readonly<Record<string, ReloadingSubject>> = {
  'clustered-server': { start: clustered },
  'node:cluster, disconnect and fork': { start: nodeCluster },
  'PM2 reload': { start: pm2 },
  'Watt restart': { program: 'wattpm', start: watt },
  'nginx reload': { program: 'nginx', start: nginx },
  'HAProxy reload': { program: 'haproxy', start: () => haproxy('') },
  'HAProxy reload, idle-close-on-response': {
    program: 'haproxy',
    start: () => haproxy('option idle-close-on-response'),
  },
}

const ends: (() => Promise<void>)[] = []

/** Ends all started servers. */
export async function stopServers(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) await end()
}

async function clustered(): Promise<ReloadingServer> {
  const cli = ofPackage('src/cli/main.ts')
  const [port, admin] = [String(await getPort()), String(await getPort())]
  const app = ofPackage('test/fixtures/apps/faults.ts')
  const options = ['--host', HOST, '--port', port, '--admin-port', admin, '--workers', WORKERS]
  const child = start(process.execPath, [cli, app, ...options])
  await answers(Number(port))
  return {
    port: Number(port),
    reload: async () => void (await run(process.execPath, [cli, 'reload', String(child.pid), '--admin-port', admin])),
  }
}

async function nodeCluster(): Promise<ReloadingServer> {
  const port = await getPort()
  const child = start(process.execPath, [ofPackage('test/fixtures/apps/node-cluster-process.ts')], {
    PORT: String(port),
  })
  await answers(port)
  return {
    port,
    reload: async () => {
      child.kill('SIGHUP')
      await once(child.stdout!, 'data')
    },
  }
}

async function pm2(): Promise<ReloadingServer> {
  const port = await getPort()
  const home = mkdtempSync(join(tmpdir(), 'pm2-'))
  const env = environment({ PM2_HOME: home, PORT: String(port) })
  const command = (...args: string[]): Promise<unknown> =>
    run(path('examples/clustered-server/node_modules/.bin/pm2'), args, { env })
  const app = ofPackage('test/fixtures/apps/single-process.ts')
  ends.push(async () => {
    await command('kill')
    rmSync(home, { recursive: true })
  })
  await command('start', app, '--name', 'app', '--interpreter', 'node', '-i', WORKERS)
  await answers(port)
  return { port, reload: async () => void (await command('reload', 'app')) }
}

async function watt(): Promise<ReloadingServer> {
  const port = await getPort()
  const app = pathToFileURL(ofPackage('test/fixtures/apps/faults.ts'))
  const folder = wattFolder((await findWatt())!, app, Number(WORKERS))
  ends.push(async () => rmSync(folder, { recursive: true }))
  const child = start('wattpm', ['start', folder], { PORT: String(port) })
  await answers(port)
  return {
    port,
    reload: async () =>
      void (await run('wattpm', ['restart', String(child.pid)], { env: environment({}), timeout: PATIENCE })),
  }
}

/** A proxy before one process, which is not reloaded. */
async function proxy(
  command: readonly [string, ...string[]],
  configure: (ports: { port: number; upstream: number; folder: string }) => string,
): Promise<{ child: ChildProcess; port: number }> {
  const upstream = await getPort()
  const port = await getPort()
  start(process.execPath, [ofPackage('test/fixtures/apps/single-process.ts')], {
    PORT: String(upstream),
    // So that a connection that the proxy keeps is not closed by the process behind it.
    APP: 'patient.ts',
  })
  await answers(upstream)
  const folder = mkdtempSync(join(tmpdir(), 'proxy-'))
  ends.push(async () => rmSync(folder, { recursive: true }))
  const configuration = join(folder, 'proxy.conf')
  writeFileSync(configuration, `${configure({ port, upstream, folder }).trimEnd()}\n`)
  const [program, ...args] = command
  const child = start(program, [...args, configuration])
  await answers(port)
  return { child, port }
}

async function nginx(): Promise<ReloadingServer> {
  const { child, port } = await proxy(
    ['nginx', '-c'],
    ({ port: own, upstream, folder }) => `
      daemon off;
      worker_processes ${WORKERS};
      pid ${folder}/pid;
      error_log ${folder}/error.log;
      events {}
      http {
        access_log off;
        client_body_temp_path ${folder}/body;
        # What is larger goes to a file, and that takes rights.
        client_body_buffer_size 1m;
        proxy_temp_path ${folder}/proxy;
        fastcgi_temp_path ${folder}/fastcgi;
        uwsgi_temp_path ${folder}/uwsgi;
        scgi_temp_path ${folder}/scgi;
        # By default a connection ends with its 1000th request, without a reload.
        keepalive_requests 1000000;
        upstream app {
          server ${HOST}:${upstream};
          keepalive 64;
        }
        server {
          listen ${HOST}:${own};
          location / {
            proxy_pass http://app;
            proxy_http_version 1.1;
            proxy_set_header connection "";
          }
        }
      }
    `,
  )
  return {
    port,
    reload: async () => {
      const old = childrenOf(child)
      child.kill('SIGHUP')
      await until(() => {
        const now = childrenOf(child)
        return now.length > 0 && !now.some((pid) => old.includes(pid))
      })
    },
  }
}

async function haproxy(option: string): Promise<ReloadingServer> {
  const { child, port } = await proxy(
    ['haproxy', '-W', '-q', '-f'],
    ({ port: own, upstream, folder }) => `
      global
        maxconn 1000
        stats socket ${folder}/socket mode 600 level admin expose-fd listeners
      defaults
        mode http
        timeout connect 5s
        timeout client 60s
        timeout server 60s
        ${option}
      listen app
        bind ${HOST}:${own}
        server app ${HOST}:${upstream}
    `,
  )
  return {
    port,
    // The old process stays for as long as its clients do.
    reload: async () => {
      const old = childrenOf(child)
      child.kill('SIGUSR2')
      await until(() => childrenOf(child).some((pid) => !old.includes(pid)))
    },
  }
}

/** Starts a process that ends its own child processes. */
function start(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = spawn(program, args, { env: environment(env), stdio: ['ignore', 'pipe', 'ignore'] })
  const exited = once(child, 'exit')
  ends.push(async () => {
    child.kill('SIGTERM')
    await exited
  })
  return child
}

function childrenOf({ pid }: ChildProcess): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
}

async function answers(port: number): Promise<void> {
  await until(async () => {
    try {
      return (await fetch(`http://${HOST}:${port}/answer/1`)).ok
    } catch {
      return false
    }
  })
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + PATIENCE; !(await isTrue());) {
    if (performance.now() > end) throw new Error(`Not within ${PATIENCE} ms`)
    await sleep(20)
  }
}

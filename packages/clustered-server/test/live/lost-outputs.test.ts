import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { requireProgram } from '@test/required-program'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createClusteredServer, type Logger } from '../../src/index.ts'
import { appPath, CLI, Command } from '../helpers/command.ts'
import { eventually } from '../helpers/eventually.ts'
import { freePort } from '../helpers/free-port.ts'
import { settled } from '../helpers/running-server.ts'

interface Status {
  reloads: number
  generation: number
  workers: { pid: number; state: string }[]
}

/** A program whose output can be taken away. */
interface Program {
  readonly child: ChildProcess
  readonly loseOutputs: () => void
}
type Start = (command: readonly string[], env: NodeJS.ProcessEnv) => Program

/** Its reader is there at first, and then it is not. */
const pipes: Start = ([file, ...args], env) => {
  const child = spawn(file!, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const output of [child.stdout, child.stderr]) output.resume()
  return {
    child,
    loseOutputs: () => {
      child.stdout.destroy()
      child.stderr.destroy()
    },
  }
}
const fullDisk: Start = ([file, ...args], env) => {
  const full = openSync('/dev/full', 'w')
  const child = spawn(file!, args, { env, stdio: ['ignore', full, full] })
  closeSync(full)
  return { child, loseOutputs: () => {} }
}
const terminal: Start = (command, env) => {
  const script = fileURLToPath(new URL('../fixtures/closing-terminal.py', import.meta.url))
  const child = spawn('python3', [script, ...command], { env, stdio: ['pipe', 'ignore', 'ignore'] })
  return { child, loseOutputs: () => void child.stdin.end() }
}

const outputs = {
  'the reader of its pipes ends': pipes,
  'the disk is full': fullDisk,
  'its terminal is closed': terminal,
}
const isLinux = process.platform === 'linux'
if (isLinux && !requireProgram('python3', 'python3')) Reflect.deleteProperty(outputs, 'its terminal is closed')

/** A server whose output is lost, once it has served requests in each process. */
interface Silent {
  readonly child: ChildProcess
  readonly request: () => Promise<string>
  readonly status: () => Promise<Status>
}

async function startSilent(start: Start, kind: string, workers: number): Promise<Silent> {
  const [port, adminPort] = [await freePort(), await freePort()]
  const flags = ['--workers', workers, '--host', '127.0.0.1', '--port', port, '--admin-port', adminPort].map(String)
  const program = kind === 'the command' ? [CLI, appPath('talkative'), ...flags] : [appPath('talkative-primary')]
  const variables = { WORKERS: String(workers), APP_PORT: String(port), ADMIN_PORT: String(adminPort) }
  const { child, loseOutputs } = start([process.execPath, ...program], { ...process.env, ...variables })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ask = async (url: string): Promise<string> => (await fetch(url, { headers: { connection: 'close' } })).text()
  const request = (): Promise<string> => ask(`http://127.0.0.1:${port}`)
  const status = async (): Promise<Status> => JSON.parse(await ask(`http://127.0.0.1:${adminPort}/status`)) as Status
  const isReady = (): Promise<true | undefined> =>
    fetch(`http://127.0.0.1:${adminPort}/ready`).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    )
  await eventually(isReady)
  const before = await status()
  loseOutputs()
  // One worker after the other may find that it writes to nobody.
  for (let time = 0; time < 20; time++) expect(await request()).toMatch(/^\d+$/)
  expect(pidsOf(await status())).toEqual(pidsOf(before))
  return { child, request, status }
}

const pidsOf = ({ workers }: Status): number[] => workers.map(({ pid }) => pid)

describe.runIf(isLinux).each(Object.entries(outputs))('when %s', (_name, start) => {
  it.each(['the command', 'a program with the factory'])(
    '%s keeps its workers, reloads and replaces a killed worker',
    async (kind) => {
      const { child, request, status } = await startSilent(start, kind, 2)
      child.kill('SIGHUP')
      const reloaded = async (): Promise<Status | undefined> => {
        const now = await status()
        return now.reloads === 1 ? now : undefined
      }
      const { generation, workers } = await eventually(reloaded)
      expect(generation).toBe(2)
      const victim = workers.find(({ state }) => state === 'active')!
      process.kill(victim.pid, 'SIGKILL')
      const replaced = async (): Promise<true | undefined> => {
        const active = (await status()).workers.filter(({ state }) => state === 'active')
        return (active.length === 2 && !active.some(({ pid }) => pid === victim.pid)) || undefined
      }
      await eventually(replaced)
      expect(await request()).toMatch(/^\d+$/)
      await endsInGoodOrder(child)
    },
  )

  it.each(['the command', 'a program with the factory'])('%s keeps running with one process', async (kind) => {
    const { child } = await startSilent(start, kind, 1)
    await endsInGoodOrder(child)
  })
})

async function endsInGoodOrder(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await exit).toEqual([0, null])
}

describe.runIf(isLinux)('status', () => {
  it('exits with 0 and no error when its reader has ended', async () => {
    const server = await serverWithAdmin()
    const child = spawn(process.execPath, [CLI, 'status', '--admin-port', server], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.destroy()
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    expect(await once(child, 'close')).toEqual([0, null])
    expect(stderr).toBe('')
  })

  it('exits with 1 and one line when it cannot write', async () => {
    const server = await serverWithAdmin()
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [CLI, 'status', '--admin-port', server], { stdio: ['ignore', full, 'pipe'] })
    closeSync(full)
    let stderr = ''
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    expect(await once(child, 'close')).toEqual([1, null])
    expect(stderr).toMatch(/^clustered-server: cannot write to stdout: ENOSPC.*\n$/)
  })
})

it('keeps running when its logger throws', async () => {
  const fail = (): never => {
    throw new Error('ENOSPC: no space left on device')
  }
  const logger: Logger = { info: fail, warn: fail, error: fail }
  const options = { workers: 2, port: 0, host: '127.0.0.1', signals: false, logger }
  const server = await createClusteredServer(new URL('../fixtures/apps/hello.ts', import.meta.url), options)
  onTestFinished(() => server.kill())
  await settled(server)
  const [victim] = server.status().workers
  const exited = once(server, 'workerExit')
  process.kill(victim!.pid!, 'SIGKILL')
  await exited
  await settled(server)
  await server.reload()
  expect(server.status().generation).toBe(2)
})

/** The admin port of a server that runs. */
async function serverWithAdmin(): Promise<string> {
  const command = new Command([appPath('hello'), '--workers', '1', '--port', '0', '--admin-port', '0'])
  onTestFinished(() => command.end())
  const { admin } = await command.listening()
  return String(admin!.port)
}

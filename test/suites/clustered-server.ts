import { rm } from 'node:fs/promises'
import type { CaseOptions, CommandSubject, FileSubject } from 'speed-bounds'
import { findWatt, wattFolder } from './watt.ts'

const folder = new URL('../../examples/clustered-server/', import.meta.url)

/** Number of processes, except for the single one. */
const WORKERS = '2'

const subject = (name: string, env: Readonly<Record<string, string>> = {}): FileSubject & { file: URL } => ({
  file: new URL(`${name}.ts`, folder),
  env: { WORKERS, ...env },
})

export const subjects: Record<
  'single-process' | 'node-cluster' | 'node-cluster-none' | 'pm2' | 'clustered',
  FileSubject & { file: URL }
> = {
  'single-process': subject('single-process'),
  'node-cluster': subject('node-cluster'),
  /** Node's other policy: workers accept from one socket, as the system has them. */
  'node-cluster-none': subject('node-cluster', { NODE_CLUSTER_SCHED_POLICY: 'none' }),
  pm2: subject('pm2'),
  clustered: subject('clustered'),
}

/** Watt with the same app, if it is installed, and a function that removes its folder. */
export async function wattCluster(): Promise<{ subject: CommandSubject; remove: () => Promise<void> } | undefined> {
  const packages = await findWatt()
  if (packages === undefined) return undefined
  const dir = wattFolder(packages, new URL('app.ts', folder), Number(WORKERS))
  return { subject: { command: ['wattpm', 'start', dir] }, remove: () => rm(dir, { recursive: true }) }
}

/** A fast response over a keep-alive connection, one over a new connection, and one after milliseconds of work. */
export const cases: Record<'hello' | 'shortConnection' | 'primes', CaseOptions> = {
  hello: { path: '/' },
  shortConnection: { path: '/', headers: { connection: 'close' } },
  primes: { path: '/primes' },
}

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** Exit code and signal of an ended process. */
export type Ended = readonly [code: number | null, signal: NodeJS.Signals | null]

export type SubjectProcess = ChildProcessByStdio<null, Readable, Readable>

const running = new Set<SubjectProcess>()

/** Starts a subject as a user would, and reads its port from what it prints; it has none when it ended. */
export async function startSubject(
  file: URL,
  {
    port = '0',
    node = process.execPath,
    nodeArgs = [],
    env: more = {},
  }: { port?: string; node?: string; nodeArgs?: readonly string[]; env?: Readonly<Record<string, string>> } = {},
): Promise<{ child: SubjectProcess; ended: Promise<Ended>; port: string; origin: string }> {
  const env = { ...process.env, HOST: '127.0.0.1', PORT: port, NODE_ENV: 'production', ...more }
  const child = spawn(node, [...nodeArgs, fileURLToPath(file)], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  // From the start: one that ends early emits no event for those who wait later.
  const ended = new Promise<Ended>((resolve) => child.once('exit', (code, signal) => resolve([code, signal])))
  let printed = ''
  // What it prints later must not fail.
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    printed += String(chunk)
    const found = /(?:port: |^Open \S+:|Local: +http:\S+:)(\d+)\D/m.exec(printed)?.[1]
    if (!found) continue
    // A pipe that is full would stop the subject.
    for (const stream of [child.stdout, child.stderr]) stream.resume()
    return { child, ended, port: found, origin: `http://127.0.0.1:${found}` }
  }
  return { child, ended, port: '', origin: '' }
}

/** Ends all that were started, without waiting for what they still do. */
export function endSubjects(): void {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
}

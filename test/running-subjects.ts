import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

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
): Promise<{ child: SubjectProcess; port: string; origin: string }> {
  const env = { ...process.env, HOST: '127.0.0.1', PORT: port, NODE_ENV: 'production', ...more }
  const child = spawn(node, [...nodeArgs, fileURLToPath(file)], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  let printed = ''
  // What it prints later must not fail.
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    printed += String(chunk)
    const found = /(?:port: |^Open \S+:|Local: +http:\S+:)(\d+)/m.exec(printed)?.[1]
    if (!found) continue
    child.stdout.resume()
    return { child, port: found, origin: `http://127.0.0.1:${found}` }
  }
  return { child, port: '', origin: '' }
}

/** Ends all that were started, without waiting for what they still do. */
export function endSubjects(): void {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
}

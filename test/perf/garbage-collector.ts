import { once } from 'node:events'
import type { SubjectProcess } from '../running-subjects.ts'

/** Has V8 collect all garbage of a process. */
export type CollectGarbage = () => Promise<void>

/** Its inspector, which SIGUSR1 opens, must not meet those of other processes at the default port. */
export const ANY_INSPECTOR_PORT = '--inspect-port=0'

/** From outside, by the inspector that every Node process has: the server needs no hook and no other flag. */
export async function garbageCollectorOf(child: SubjectProcess): Promise<CollectGarbage> {
  child.kill('SIGUSR1')
  const inspector = new WebSocket(await inspectorUrl(child))
  await once(inspector, 'open')
  return async () => {
    inspector.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }))
    const [{ data }] = (await once(inspector, 'message')) as [{ data: string }]
    if (data !== '{"id":1,"result":{}}') throw new Error(`V8 did not collect its garbage: ${data}`)
  }
}

async function inspectorUrl(child: SubjectProcess): Promise<string> {
  let printed = ''
  for await (const chunk of child.stderr) {
    printed += String(chunk)
    const url = /ws:\/\/\S+/.exec(printed)?.[0]
    if (url) return url
  }
  throw new Error(`The subject ended and never opened its inspector:\n${printed}`)
}

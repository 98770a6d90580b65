// The thread in a worker that reports where the worker's event loop is blocked.

import type { Debugger, Profiler, Session } from 'node:inspector'
import { mkdirSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { PROFILE_MS } from '../ipc/messages.ts'
import type { ReporterData } from './blocked-loop-report.ts'

const { fd, kind, directory, worker } = workerData as ReporterData
const primary = new Socket({ fd, readable: true, writable: true })
primary.once('data', () => void respond())
// The primary may die at any time.
primary.on('error', () => {})

async function respond(): Promise<void> {
  primary.write(JSON.stringify(await report().catch((error: Error) => ({ failure: error.message }))))
}

async function report(): Promise<object> {
  // Loaded on demand: the inspector takes memory.
  const { Session } = await import('node:inspector')
  const session = new Session()
  session.connectToMainThread()
  const places = await pause(session)
  const text = kind === 'stack' ? stackText(places) : JSON.stringify(await profile(session))
  mkdirSync(directory, { recursive: true })
  const time = new Date().toISOString().replaceAll(':', '-')
  const file = join(directory, `blocked-${time}-worker-${worker}.${kind === 'stack' ? 'txt' : 'cpuprofile'}`)
  writeFileSync(file, text)
  return { file, at: places[0] }
}

/** Pauses the event loop, and resolves with its call stack. */
async function pause(session: Session): Promise<string[]> {
  // A frame lacks the URL of a module, but its script has it.
  const urls = new Map<string, string>()
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => urls.set(scriptId, url))
  const paused = new Promise<Debugger.CallFrame[]>((resolve) => {
    session.once('Debugger.paused', ({ params }) => resolve(params.callFrames))
  })
  session.post('Debugger.enable')
  session.post('Debugger.pause')
  return (await paused).map(({ functionName, location: { scriptId, lineNumber, columnNumber = 0 } }) => {
    const url = urls.get(scriptId) || 'unknown'
    return `${functionName || '(anonymous)'} (${url}:${lineNumber + 1}:${columnNumber + 1})`
  })
}

function stackText(places: readonly string[]): string {
  const head = `Worker ${worker}, process ${process.pid}: its event loop was blocked here.`
  return [head, ...places.map((place) => `    at ${place}`), ''].join('\n')
}

/** Records a CPU profile from the paused place on, in the format of Chrome's developer tools. */
async function profile(session: Session): Promise<Profiler.Profile> {
  session.post('Profiler.enable')
  session.post('Profiler.start')
  session.post('Debugger.disable')
  await sleep(PROFILE_MS)
  return new Promise((resolve, reject) => {
    session.post('Profiler.stop', (error, result) => (error ? reject(error) : resolve(result.profile)))
  })
}

// The functions of a V8 CPU profile that take the most time by themselves.

import { basename } from 'node:path'

/** The parts of a `.cpuprofile` that are read. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  /** Microseconds of the monotonic clock. */
  readonly startTime: number
  readonly samples: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[]
}

export interface HotFunction {
  readonly name: string
  /** File and line, if it is JavaScript. */
  readonly place: string
  /** Share of the time in which the process was not idle. */
  readonly share: number
}

/** `since` leaves out the start of the process: microseconds of the monotonic clock. */
export function hottestFunctions(profile: CpuProfile, count: number, since = 0): readonly HotFunction[] {
  const { nodes, startTime, samples, timeDeltas } = profile
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const times = new Map<string, { name: string; place: string; time: number }>()
  let busy = 0
  let now = startTime
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = frames.get(id)!
    const time = timeDeltas[index]!
    now += time
    if (functionName === '(idle)' || now < since) continue
    busy += time
    const name = functionName === '' ? '(anonymous)' : functionName
    const place = url === '' ? '' : `${url.startsWith('node:') ? url : basename(url)}:${lineNumber + 1}`
    const key = `${name} ${url} ${lineNumber}`
    const entry = times.get(key) ?? { name, place, time: 0 }
    times.set(key, { ...entry, time: entry.time + time })
  }
  return [...times.values()]
    .toSorted((one, other) => other.time - one.time)
    .slice(0, count)
    .map(({ name, place, time }) => ({ name, place, share: time / busy }))
}

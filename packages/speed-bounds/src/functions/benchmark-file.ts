// The functions that a benchmark file exports. It is read in the process that calls them.

import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { moduleAdvice } from '../config/module-advice.ts'
import type { ConfigClaim } from '../options/config-types.ts'
import type { FunctionGroup } from './process-messages.ts'

/** A function to race. Its result is stored, so that V8 cannot remove the work. */
export type RacedFunction = () => unknown

type Functions = Readonly<Record<string, RacedFunction>>

/** A file that cannot be used. The message says why. */
export class UnusableFile extends Error {}

/** The functions of a file by group, and its claims. */
export interface Benchmarks {
  readonly groups: ReadonlyMap<string | undefined, Functions>
  readonly claims: readonly ConfigClaim[]
}

export async function importBenchmarks(url: string): Promise<Benchmarks> {
  const name = basename(fileURLToPath(url))
  let exports: { default?: unknown; claims?: unknown }
  try {
    exports = (await import(url)) as typeof exports
  } catch (error) {
    const message = messageOf(error)
    throw new UnusableFile(`${name} cannot be imported: ${message}${moduleAdvice(message)}`)
  }
  const { claims = [] } = exports
  if (!Array.isArray(claims)) throw new UnusableFile(`${name} exports "claims" that are no array.`)
  return { groups: groupsOf(exports.default, name), claims: claims as ConfigClaim[] }
}

export function namesOf({ groups }: Benchmarks): FunctionGroup[] {
  return [...groups].map(([group, functions]) => ({ group, names: Object.keys(functions) }))
}

function groupsOf(exported: unknown, file: string): Benchmarks['groups'] {
  const wrong = (problem: string): UnusableFile =>
    new UnusableFile(`${file} ${problem}: expected "export default { name: () => … }", or groups of such objects.`)
  if (!isObject(exported) || Object.keys(exported).length === 0) throw wrong('has no benchmarks')
  const index = Object.keys(exported).find((name) => /^\d+$/.test(name))
  if (index !== undefined) throw wrong(`has a benchmark named ${index}, and JavaScript changes the order of numbers`)
  if (Object.values(exported).some((value) => typeof value === 'function')) {
    return new Map([[undefined, functionsOf(exported, wrong)]])
  }
  return new Map(
    Object.entries(exported).map(([group, functions]) => {
      if (!isObject(functions) || Object.keys(functions).length === 0) throw wrong(`has no functions in "${group}"`)
      return [group, functionsOf(functions, wrong)]
    }),
  )
}

function functionsOf(functions: Record<string, unknown>, wrong: (problem: string) => UnusableFile): Functions {
  const other = Object.entries(functions).find(([, value]) => typeof value !== 'function')
  if (other) throw wrong(`has "${other[0]}", which is no function`)
  return functions as Functions
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The first line of an error. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return text.split('\n', 1)[0]!
}

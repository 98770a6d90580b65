// Maps an upstream's response, in this order: `target`, `unwrap`, `pick`, `omit`, `rename`.

import { UpstreamFault } from '../errors.ts'
import type { MappingOptions } from '../options/call-options.ts'

export type Mapping = (value: unknown) => unknown

/** The response has no such part. */
export class MissingTargetError extends UpstreamFault {}

type Members = Readonly<Record<string, unknown>>

/** All steps as one function; undefined if there are none. */
export function mappingOf({ target, unwrap, pick, omit, rename }: MappingOptions): Mapping | undefined {
  const steps: Mapping[] = []
  if (target !== undefined) steps.push((value) => targetOf(value, target.split('.')))
  if (unwrap) steps.push(unwrapped)
  if (pick) {
    const tree = treeOf(pick)
    steps.push((value) => eachElement(value, (one) => picked(one, tree)))
  }
  if (omit) {
    const tree = treeOf(omit)
    steps.push((value) => eachElement(value, (one) => without(one, tree)))
  }
  if (rename) {
    const names = new Map(Object.entries(rename))
    steps.push((value) => eachElement(value, (one) => renamed(one, names)))
  }
  return steps.length === 0 ? undefined : (value) => steps.reduce((mapped, step) => step(mapped), value)
}

function targetOf(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce((part, key) => {
    if (!isMembers(part) || !Object.hasOwn(part, key)) throw new MissingTargetError(`has no ${keys.join('.')}`)
    return part[key]
  }, value)
}

function unwrapped(value: unknown): unknown {
  const values = isMembers(value) ? Object.values(value) : []
  return values.length === 1 ? values[0] : value
}

/** Names, each with the names below it. An empty tree stands for everything below. */
type Tree = Map<string, Tree>

function treeOf(paths: readonly string[]): Tree {
  const root: Tree = new Map()
  // `a` includes `a.b`: the shorter path comes last, and clears the tree below it.
  for (const path of paths.toSorted((one, other) => other.length - one.length)) {
    let branch = root
    for (const key of path.split('.')) {
      const next: Tree = branch.get(key) ?? new Map()
      branch.set(key, next)
      branch = next
    }
    branch.clear()
  }
  return root
}

function picked(value: unknown, tree: Tree): unknown {
  if (!isMembers(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => tree.has(name))
      .map(([name, member]) => {
        const below = tree.get(name)!
        return [name, below.size === 0 ? member : eachElement(member, (one) => picked(one, below))]
      }),
  )
}

function without(value: unknown, tree: Tree): unknown {
  if (!isMembers(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => tree.get(name)?.size !== 0)
      .map(([name, member]) => {
        const below = tree.get(name)
        return [name, below ? eachElement(member, (one) => without(one, below)) : member]
      }),
  )
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (!isMembers(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [names.get(name) ?? name, member]))
}

/** A mapping applies to each element of an array. */
function eachElement(value: unknown, map: Mapping): unknown {
  return Array.isArray(value) ? value.map(map) : map(value)
}

/** A number in `JSON.rawJSON` is an object, too. */
function isMembers(value: unknown): value is Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return !(JSON as unknown as { isRawJSON: (value: unknown) => boolean }).isRawJSON(value)
}

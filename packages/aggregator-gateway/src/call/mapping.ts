// What is taken of an upstream's answer, in this order: `target`, `unwrap`, `pick`, `omit`, `rename`.

/** What is taken of an answer. */
export interface MappingOptions {
  /** The path of the part that is taken, such as `data.items`. @default the whole answer */
  target?: string
  /** Whether an object with one member is replaced by the member's value. @default false */
  unwrap?: boolean
  /** Paths of what is kept. @default all */
  pick?: readonly string[]
  /** Paths of what is left out. @default none */
  omit?: readonly string[]
  /** New names of top-level members, by their old ones. @default none */
  rename?: Readonly<Record<string, string>>
}

export type Mapping = (value: unknown) => unknown

/** What the answer lacks. */
export class MissingTargetError extends Error {}

type Members = Readonly<Record<string, unknown>>

/** The steps of a mapping as one function; nothing where nothing is to be done. */
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

/** Names with what is below them; nothing below means all of it. */
type Tree = Map<string, Tree>

function treeOf(paths: readonly string[]): Tree {
  const root: Tree = new Map()
  // Of `a` and `a.b` the first says it all: it comes last, and clears what is below.
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

/** What is said of an object holds for each object of an array. */
function eachElement(value: unknown, map: Mapping): unknown {
  return Array.isArray(value) ? value.map(map) : map(value)
}

/** A number kept as it came, by `JSON.rawJSON`, is an object too. */
function isMembers(value: unknown): value is Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return !(JSON as unknown as { isRawJSON: (value: unknown) => boolean }).isRawJSON(value)
}

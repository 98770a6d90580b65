// Places of a JSON document, and copies of it with one place changed.

export type Step = string | number
export type Place = readonly Step[]

/** All places of a document, with the first entry of each list. */
export function placesOf(value: unknown, at: Place = []): Place[] {
  if (Array.isArray(value)) return [at, ...(value.length > 0 ? placesOf(value[0], [...at, 0]) : [])]
  if (typeof value !== 'object' || value === null) return [at]
  return [at, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...at, key]))]
}

export function valueAt(document: unknown, at: Place): unknown {
  return at.reduce((value, step) => (value as Record<Step, unknown>)[step], document)
}

/** A copy of the document with one place changed. */
export function changed(
  document: unknown,
  at: Place,
  change: (parent: Record<Step, unknown>, key: Step) => void,
): unknown {
  const copy: unknown = structuredClone(document)
  change(valueAt(copy, at.slice(0, -1)) as Record<Step, unknown>, at.at(-1)!)
  return copy
}

export const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Copies of the document with another type at this place. */
export function otherTypes(document: unknown, at: Place, mayBeNull: boolean): unknown[] {
  const kind = (of: unknown): string => (of === null ? 'null' : Array.isArray(of) ? 'array' : typeof of)
  const allowed = [kind(valueAt(document, at)), ...(mayBeNull ? ['null'] : [])]
  return [true, 'text', -1.5, null, {}, []]
    .filter((other) => !allowed.includes(kind(other)))
    .map((other) => changed(document, at, (parent, key) => (parent[key] = other)))
}

/** Places with their names, for titles. */
export const named = (places: readonly Place[]): [string, Place][] => places.map((at) => [at.join('.'), at])

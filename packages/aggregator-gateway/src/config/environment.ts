// Environment variables in a configuration: `${UPSTREAM_URL}`, and `${UPSTREAM_URL:-http://localhost:3001}` with a default.

/** A variable, an escaped `$${`, which stands for `${`, or a `${` that begins no variable. */
const VARIABLE = /\$\$\{|\$\{(?:(\w+)(?::-([^{}]*))?\})?/g

/** A variable that is not set, and where it is used. */
interface MissingVariable {
  readonly name: string
  /** Path of the option, such as `upstreams.users`. */
  readonly where: string
}

/** Variables that can't be filled in. */
export interface UnusableVariables {
  readonly missing: MissingVariable[]
  /** Paths of the options whose text has a `${` that begins no variable. */
  readonly malformed: string[]
}

/**
 * Fills variables in all texts of a value, and collects those that are unusable. A default stands for an empty variable, too,
 * as in shells.
 */
export function withEnvironment(
  value: unknown,
  environment: Readonly<Record<string, string | undefined>>,
  unusable: UnusableVariables,
  where = '',
): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(VARIABLE, (text, name?: string, standard?: string) => {
      if (name === undefined) {
        if (text === '${') unusable.malformed.push(where)
        return '${'
      }
      const found = environment[name] || (standard ?? environment[name])
      if (found === undefined) unusable.missing.push({ name, where })
      return found ?? text
    })
  }
  if (Array.isArray(value)) {
    return value.map((one, index) => withEnvironment(one, environment, unusable, `${where}[${index}]`))
  }
  if (!isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      withEnvironment(one, environment, unusable, where === '' ? key : `${where}.${key}`),
    ]),
  )
}

/** A module's configuration may have instances of classes, such as observers and stores. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

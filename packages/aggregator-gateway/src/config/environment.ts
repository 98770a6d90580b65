// Environment variables in a configuration: `${UPSTREAM_URL}`, and `${UPSTREAM_URL:-http://localhost:3001}` with a default.

/** A variable, or an escaped `$${`, which stands for `${`. */
const VARIABLE = /\$\$\{|\$\{(\w+)(?::-([^{}]*))?\}/g

/** A variable that is not set, and where it is used. */
export interface MissingVariable {
  readonly name: string
  /** Path of the option, such as `upstreams.users`. */
  readonly where: string
}

/** Fills variables in all texts of a value, and collects those that are missing. */
export function withEnvironment(
  value: unknown,
  environment: Readonly<Record<string, string | undefined>>,
  missing: MissingVariable[],
  where = '',
): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(VARIABLE, (text, name?: string, standard?: string) => {
      if (name === undefined) return '${'
      const found = environment[name] ?? standard
      if (found === undefined) missing.push({ name, where })
      return found ?? text
    })
  }
  if (Array.isArray(value)) {
    return value.map((one, index) => withEnvironment(one, environment, missing, `${where}[${index}]`))
  }
  if (!isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      withEnvironment(one, environment, missing, where === '' ? key : `${where}.${key}`),
    ]),
  )
}

/** A module's configuration may have instances of classes, such as observers and stores. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { UsageError } from './usage-error.ts'

/** A parsed command line. */
export interface CommandLine {
  readonly values: Readonly<Record<string, unknown>>
  readonly positionals: readonly string[]
}

/** How a command is called. */
export interface Syntax {
  /** What `--help` belongs to: `clustered-server status`. */
  readonly command: string
  readonly options: ParseArgsOptionsConfig
  /** What to say about flags that do not exist here, but did, or do in PM2. */
  readonly advice?: Readonly<Record<string, string>>
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number]

/**
 * Parses the arguments of a command.
 *
 * @throws UsageError in one line
 */
export function parseCommandLine(args: readonly string[], { command, options, advice = {} }: Syntax): CommandLine {
  const config = { args: [...args], options, allowPositionals: true, allowNegative: true } as const
  for (const token of parseArgs({ ...config, strict: false, tokens: true }).tokens)
    check(token, options, `see ${command} --help`, advice)
  const { values, positionals } = parseArgs(config)
  return { values, positionals }
}

function check(token: Token, options: ParseArgsOptionsConfig, see: string, advice: Syntax['advice']): void {
  if (token.kind !== 'option') return
  const { name, rawName, value, inlineValue } = token
  const positive = name.startsWith('no-') ? name.slice('no-'.length) : name
  const option = options[name] ?? (options[positive]?.type === 'boolean' ? options[positive] : undefined)
  if (option === undefined) {
    const hint = advice && Object.hasOwn(advice, rawName) ? advice[rawName] : see
    throw new UsageError(`Unknown option '${rawName}': ${hint}`)
  }
  if (option.type === 'boolean' && value !== undefined)
    throw new UsageError(`${rawName} takes no value, got ${JSON.stringify(value)}: ${see}`)
  const isMissing = value === undefined || (value.startsWith('-') && value.length > 1 && !inlineValue)
  if (option.type === 'string' && isMissing) throw new UsageError(`${rawName} needs a value: ${see}`)
}

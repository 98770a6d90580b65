import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { findConfig } from '../config/load-config.ts'
import { build, GatewayProcess } from './gateway-process.ts'
import { outliveOutputs } from './lost-output.ts'

const EXIT = { failed: 1, usage: 2 }
const FLAGS = {
  check: { type: 'boolean' },
  watch: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  port: { type: 'string' },
  host: { type: 'string' },
} as const
const HELP = `Usage: aggregator-gateway [file] [options]

Serves the gateway of a configuration file, by default gateway.json or
gateway.config.{ts,js,mjs,json}.

Options:
  --check        Check the file and exit: 0 if it is valid, 1 if not
  --watch        Reload when the file changes
  --port <port>  Port to listen on, instead of that of the file
  --host <host>  Host to listen on, instead of that of the file
  --help         Print this text

Signals:
  SIGHUP           Reload the file. Running requests end with the last
                   configuration
  SIGTERM, SIGINT  Stop, after running requests have ended
`

outliveOutputs()
try {
  await main(process.argv.slice(2))
} catch (error) {
  process.exitCode = isUsage(error) ? EXIT.usage : EXIT.failed
  warn(isUsage(error) ? usageOf(error as Error) : (error as Error).message)
}

async function main(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: FLAGS, allowPositionals: true })
  if (values.help) return void process.stdout.write(HELP)
  const usage = usageProblem(positionals, values.port)
  if (usage !== undefined) {
    process.exitCode = EXIT.usage
    return warn(usage)
  }
  const path = findConfig(positionals[0], process.cwd())
  if (values.check) return await check(path)
  const port = values.port === undefined ? undefined : Number(values.port)
  const isWatched = values.watch === true
  const starting = GatewayProcess.start({ path, port, host: values.host, isWatched, print, warn })
  handleSignals(starting)
  await starting
}

/** Before the first line is printed: whoever waits for that may send a signal at once, which would end the process. */
function handleSignals(starting: Promise<GatewayProcess>): void {
  const started = (act: (gateway: GatewayProcess) => unknown): Promise<unknown> => starting.then(act, () => {})
  process.on('SIGHUP', () => void started((gateway) => gateway.reload()))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // A second signal ends the process immediately.
    process.once(signal, () => {
      void started((gateway) => gateway.stop()).finally(() => process.exit())
    })
  }
}

function usageProblem(positionals: readonly string[], port: string | undefined): string | undefined {
  if (positionals.length > 1) return `expected one file, got ${positionals.length}: see --help`
  const isPort = port === undefined || (/^\d{1,5}$/.test(port) && Number(port) <= 65_535)
  return isPort ? undefined : `expected a port from 0 to 65535 for --port, got ${JSON.stringify(port)}`
}

async function check(path: string): Promise<void> {
  const { config, app } = await build(path)
  await app.close()
  const { upstreams, endpoints } = config.options
  const counts = [counted(Object.keys(upstreams).length, 'upstream'), counted(endpoints.length, 'endpoint')].join(', ')
  process.stdout.write(`${basename(path)} is valid: ${counts}\n`)
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function isUsage(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS_')
}

/** What is wrong with the flags, without Node's advice on positional arguments. */
function usageOf({ message }: Error): string {
  return `${message.replace(/\. To specify [^]*/, '')}: see --help`
}

function print(line: string): void {
  process.stdout.write(`aggregator-gateway: ${line}\n`)
}

function warn(line: string): void {
  process.stderr.write(`aggregator-gateway: ${line}\n`)
}

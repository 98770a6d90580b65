import { type Command, InvalidArgumentError, Option } from 'commander'
import { load } from '../load-test/load.ts'
import {
  type LoadOptions,
  type LoadProgress,
  type LoadStage,
  type Protocol,
  PROTOCOLS,
  type Rate,
  type RateRamp,
} from '../options/load-types.ts'
import { loadToTerminal } from '../report/load-tables.ts'
import { interruptible } from './interruption.ts'
import { count, headersOf, timeOption } from './load-flags.ts'
import { print, terminal } from './output.ts'
import { assertOutputFiles, type OutputFiles, withOutputFiles, writeOutputFiles } from './output-files.ts'
import { parseSubject } from './subject-argument.ts'
import { repeatable } from './repeatable.ts'
import { time } from './time.ts'

const EXAMPLES = `
An open loop at shares of the ceiling, which is measured first:
  speed-bounds load server.ts --rate 10%,50%,90%
At fixed rates, and a ramp, of 30 seconds each:
  speed-bounds load server.ts --rate 500,2000,0..2000 --duration 30s
Virtual users: the time of each stage, and the users at its end:
  speed-bounds load server.ts --stages 10s:50,20s:50,10s:0 --time-scale 0.1
A server that runs already:
  speed-bounds load http://127.0.0.1:3000 --rate 2000`

interface Flags extends OutputFiles {
  path: string
  method?: string
  header: string[]
  body?: string
  protocol: Protocol
  status?: number
  rate?: (Rate | RateRamp)[]
  duration?: number
  stages?: LoadStage[]
  timeScale?: number
  pause?: number
  keepAlive: boolean
  connections?: number
  warmUp: number
  requestTimeout: number
}

export function addLoadCommand(program: Command): void {
  withOutputFiles(program.command('load'))
    .description('measure latency and CPU per request of a server at fixed rates')
    .argument('<subject>', 'a script that Node runs, a quoted command line, or a URL')
    .option('--rate <rates>', 'requests/s or shares of the ceiling (default: 10%,50%,90%)', rates)
    .option('--duration <time>', 'length of each rate (default: 10s)', time('ms'))
    .option('--stages <stages>', 'virtual users instead of rates: 10s:50,20s:50', stages)
    .option('--time-scale <factor>', 'factor of the times of stages', Number)
    .option('--pause <time>', 'mean pause of a virtual user (default: 0ms)', time('ms'))
    .addOption(new Option('--protocol <name>', 'protocol').choices([...PROTOCOLS]).default('http1'))
    .option('--path <path>', 'path and query string', '/')
    .option('--method <method>', 'HTTP method (default: "GET")')
    .addOption(repeatable('-H, --header <name: value>', 'request header', 'none'))
    .option('--body <text>', 'request body, or WebSocket message')
    .option('--status <code>', 'expected status (default: any 2xx)', count)
    .option('-c, --connections <count>', 'maximum open connections (default: 1000)', count)
    .option('--no-keep-alive', 'open a connection for each request')
    .addOption(timeOption('--warm-up <time>', 'load that does not count', time('ms'), '2s'))
    .addOption(timeOption('--request-timeout <time>', 'time until a request has failed', time('ms'), '10s'))
    .addHelpText('after', EXAMPLES)
    .action(runLoad)
}

async function runLoad(subject: string, { header, json, markdown, html, csv, ...options }: Flags): Promise<void> {
  const outputs = { json, markdown, html, csv }
  assertOutputFiles(outputs)
  const server = /^[a-z]+:\/\//i.test(subject) ? subject : parseSubject(subject)[1]
  const given: LoadOptions = { ...options, headers: headersOf(header), onProgress: show }
  const report = await interruptible((signal) => load(server, { ...given, signal }))
  print(loadToTerminal(report, terminal))
  writeOutputFiles(report, outputs)
}

function show({ step, load: name, duration }: LoadProgress): void {
  const length = duration === undefined ? '' : ` for ${duration / 1000} s`
  process.stderr.write(`${step}: ${name}${length}\n`)
}

/** `500,50%,0..2000` */
function rates(text: string): (Rate | RateRamp)[] {
  return text.split(',').map((part) => {
    const [from, to] = part.split('..').map((end) => rate(end.trim()))
    return to === undefined ? from! : { from: from!, to }
  })
}

function rate(text: string): Rate {
  if (/^\d+(\.\d+)?%$/.test(text)) return text as Rate
  if (!/^\d+(\.\d+)?$/.test(text)) {
    throw new InvalidArgumentError('Expected rates such as 2000, 50% or 0..2000, separated by commas.')
  }
  return Number(text)
}

/** `10s:50,20s:100` */
function stages(text: string): LoadStage[] {
  return text.split(',').map((part) => {
    const [, duration, users] = /^(.+):(\d+)$/.exec(part.trim()) ?? []
    if (duration === undefined) {
      throw new InvalidArgumentError('Expected stages such as 10s:50,20s:100: a time, and the users at its end.')
    }
    return { duration: time('ms')(duration), users: Number(users) }
  })
}

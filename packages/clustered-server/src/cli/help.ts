import { type CommandFlag, commandFlags, defaultOf, flags } from './flags.ts'
import { INIT_KINDS } from './commands/init.ts'
import { serviceCommands } from './services/command-syntax.ts'

/** Width of a terminal. */
const WIDTH = 80

const HELP: CommandFlag & { short: string } = { flag: 'help', short: 'h', help: 'Show this text.' }

/** Text of `--help`, or of the help of a command on services. */
export function helpText(command?: keyof typeof serviceCommands): string {
  return command === undefined ? startHelp() : serviceHelp(command)
}

function startHelp(): string {
  return `Usage: clustered-server [start] [<app>|<configuration file>] [options]
                        [-- <arguments of the app>]
       clustered-server status|reload|scale|stop [<service>] ...
       clustered-server init ${INIT_KINDS.join('|')} [<app>]
                        [--name <name>] [--port <port>]

${wrapped('<app> is a module. Its default export is a function that returns an app of Fastify, Express, NestJS, Koa or Hono, a server of node:http, node:https or node:http2, a request listener, or a Fastify plugin. The listener or the plugin may be the default export itself. A module without one listens on process.env.PORT by itself.')}

The server runs in the foreground. Commands on running services:

${Object.entries(serviceCommands)
  .map(([name, { usage, about }]) => `  ${name} ${usage}\n${wrapped(about, 6)}`)
  .join('\n')}

Options:
${[...commandFlags.map((flag) => flagText(flag)), ...flags.map((flag) => flagText(flag, defaultOf(flag.option)))].join('\n')}
${flagText(HELP)}
  -v, --version
      Show the version.

${wrapped('Times take a unit, as in 500ms, 30s, 5m or 1h; sizes as in 300M or 1G. Without a unit: milliseconds and bytes. The environment variables PORT and HOST apply if no flag and no configuration file sets the address.')}

${wrapped('Signals: SIGTERM and SIGINT shut down, a second one kills; SIGHUP reloads; SIGTTIN and SIGTTOU add and remove a worker; SIGUSR2 is ignored.')}

${wrapped('Exit code: 0 after a shutdown; 1 after a failed start, the death of all workers or a second stop signal; 2 for wrong usage.')}
`
}

function serviceHelp(command: keyof typeof serviceCommands): string {
  const { usage, about, flags: ofCommand } = serviceCommands[command]
  return `Usage: clustered-server ${command} ${usage}

${wrapped(about)}

${wrapped('<service> is its name, the process id of its primary or of a worker, its pid file, or its admin port. It may be left out where one service runs.')}

Options:
${[...ofCommand, HELP].map((flag) => flagText(flag)).join('\n')}

${wrapped('Exit code: 0 when it is done; 1 after a failure; 2 for wrong usage, and where several services match; 3 when no such service runs.')}
`
}

function flagText(
  { flag, value, help, ...more }: CommandFlag & { option?: string; short?: string },
  standard?: string,
): string {
  const negative = more.option === undefined ? '' : `, --no-${flag}`
  const short = more.short === undefined ? '' : `-${more.short}, `
  const text = standard === undefined ? help : `${help} Default: ${standard}`
  return `  ${short}--${flag}${value === undefined ? negative : ` <${value}>`}\n${wrapped(text, 6)}`
}

function wrapped(text: string, indent: number = 0): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line !== '' && indent + line.length + 1 + word.length > WIDTH) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.map((line) => `${' '.repeat(indent)}${line}`).join('\n')
}

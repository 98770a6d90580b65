import { defaultOf, flags } from './flags.ts'

const WIDTH = 100

/** Text of `--help`. */
export function helpText(): string {
  return `Usage: clustered-server <app> [options] [-- <arguments of the app>]
       clustered-server reload <pid> [--admin-port <port>] [--admin-host <host>]
       clustered-server status --admin-port <port> [--admin-host <host>] [--json]

<app> is a module. Its default export is a function that returns an app of Fastify, Express, NestJS, Koa or
Hono, a server of node:http, node:https or node:http2, a request listener, or a Fastify plugin. The listener
or the plugin may be the default export itself. A module without one listens on process.env.PORT by itself.

Options:
${flags.map((flag) => flagText(flag)).join('\n')}
  -h, --help
      Show this text.
  -v, --version
      Show the version.

Times take a unit, as in 500ms, 30s, 5m or 1h; sizes as in 300M or 1G. Without a unit: milliseconds and bytes.
The environment variables PORT and HOST apply if --port and --host are missing.

reload sends SIGHUP to a primary, given its pid or that of a worker. With --admin-port it waits for the end of the reload.

Signals: SIGTERM and SIGINT shut down, a second one kills; SIGHUP reloads; SIGTTIN and SIGTTOU add and remove
a worker; SIGUSR2 is ignored.

Exit code: 0 after a shutdown; 1 after a failed start, the death of all workers or a second stop signal; 2 for wrong usage.
`
}

function flagText({ option, flag, value, help }: (typeof flags)[number]): string {
  const standard = defaultOf(option)
  const text = standard === undefined ? help : `${help} Default: ${JSON.stringify(standard)}`
  return [`  --${flag}${value === undefined ? `, --no-${flag}` : ` <${value}>`}`, ...wrapped(text)].join('\n')
}

function wrapped(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line !== '' && line.length + word.length >= WIDTH) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.map((line) => `      ${line}`)
}

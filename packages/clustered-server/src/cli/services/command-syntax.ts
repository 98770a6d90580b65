import type { CommandFlag } from '../flags.ts'

const admin: readonly CommandFlag[] = [
  { flag: 'admin-port', value: 'port', help: 'Admin port of a server without a name.' },
  { flag: 'admin-host', value: 'host', help: 'Its IP address or host name. Default: 127.0.0.1' },
]

/** A command on a running service. */
export interface ServiceCommand {
  /** Arguments, as the help shows them. */
  readonly usage: string
  readonly about: string
  readonly flags: readonly CommandFlag[]
}

/** The commands on running services. */
export const serviceCommands: Readonly<Record<'status' | 'reload' | 'scale' | 'stop', ServiceCommand>> = {
  status: {
    usage: '[<service>] [--watch] [--json]',
    about: 'Shows a service and its workers, or a list where several services run.',
    flags: [
      {
        flag: 'watch',
        help: 'Show it again each second until Ctrl-C. Without a terminal, print a line for each change.',
      },
      { flag: 'json', help: 'Print a line of JSON for each service.' },
      ...admin,
    ],
  },
  reload: {
    usage: '[<service>]',
    about: 'Replaces the workers with new ones that run the current code, and waits for it.',
    flags: admin,
  },
  scale: {
    usage: '[<service>] <count>|+<count>|-<count>',
    about: 'Sets the number of workers, and waits for it. The number holds across reloads.',
    flags: [],
  },
  stop: {
    usage: '[<service>] [--timeout <time>]',
    about: 'Stops a service after its requests in flight, and waits until it has ended.',
    flags: [
      { flag: 'timeout', value: 'time', help: 'Maximum time to wait. Default: as long as the shutdown may take.' },
    ],
  },
}

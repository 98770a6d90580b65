import { renamed } from '../options/schema.ts'
import { flags } from './flags.ts'

/** Flags of `pm2 start`, and what to use here. */
const OF_PM2: Readonly<Record<string, string>> = {
  '-i': 'use --workers <count|auto>',
  '--instances': 'use --workers <count|auto>',
  '-n': 'use --name <name>',
  '-p': 'use --pid-file <path>',
  '--pid': 'use --pid-file <path>',
  '-w': 'use --watch',
  '--ignore-watch': 'use --watch-ignore <pattern>',
  '--watch-delay': 'changes are collected for 100 ms',
  '--max-memory-restart': 'use --recycle-rss <size>',
  '--kill-timeout': 'use --drain-timeout <time>',
  '--listen-timeout': 'use --start-timeout <time>',
  '--interpreter-args': 'use --node-args <arguments>',
  '--no-daemon': 'leave it out, the command runs in the foreground',
  '--cron-restart': 'run clustered-server reload <name> from cron or a systemd timer',
  '--cron': 'run clustered-server reload <name> from cron or a systemd timer',
}

const renamedFlags: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(renamed).flatMap(([before, now]) => {
    const flag = flags.find(({ option }) => option === now)?.flag
    if (flag === undefined) return []
    return ['--', '--no-'].map((prefix) => [`${prefix}${flagNameOf(before)}`, `it was renamed to ${prefix}${flag}`])
  }),
)

/** What to say about unknown flags of a start. */
export const startAdvice: Readonly<Record<string, string>> = { ...OF_PM2, ...renamedFlags }

/** What to say about unknown flags of the other commands. */
export const serviceAdvice: Readonly<Record<string, string>> = {
  '--port': '--port was renamed to --admin-port',
  '--host': '--host was renamed to --admin-host',
}

function flagNameOf(option: string): string {
  return option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

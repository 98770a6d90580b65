// Keys of PM2's ecosystem files, and what happens to each. docs/from-pm2.md shows the same tables.

/** Keys that have a counterpart, and the counterpart. */
export const MAPPED: Readonly<Record<string, string>> = {
  script: 'the app',
  name: '`name`, by which `status`, `reload`, `scale`, `stop` and `--only` find the app',
  pid_file: '`pidFile`: the process id of the primary',
  cwd: 'the working directory of the server',
  args: 'arguments of the app',
  interpreter: '`node`; other runtimes and loaders are named in a warning',
  node_args: '`execArgv`',
  instances: '`workers`; `0` and `"max"` become `"auto"`, a negative number leaves so many cores free',
  exec_mode: '`"cluster"`; `"fork"` with more than one instance is named in a warning',
  env: '`env`; its `PORT` and `HOST` become `port` and `host`',
  'env_<name>': 'added to `env` by `--env <name>`',
  port: '`port`',
  max_memory_restart: '`recycle.rss`: the worker is replaced without losing a request',
  kill_timeout: '`drainTimeout`',
  listen_timeout: '`startTimeout`: a worker that is not ready by then has failed to start',
  watch: '`--watch`, or `--watch-path` for paths; ignored where `NODE_ENV` is `production`',
  ignore_watch: '`--watch-ignore`: names or paths with `*`',
  source_map_support: '`--enable-source-maps` in `execArgv`',
}

/** A key without a counterpart. */
interface UnsupportedKey {
  readonly key: string
  /** What to do about it, in one sentence. */
  readonly advice: string
  /** Values that describe what the server does anyway, and need no warning. */
  readonly harmless?: readonly unknown[]
}

const OUTPUT = 'Redirect the output in the shell, or let systemd or Docker collect it.'
const RESTARTS = 'Dead workers restart by themselves, with delays from 0.1 s to 30 s.'
const DAEMON = 'It concerns the PM2 daemon.'
const PLUS = 'Use `--admin-port` and its `/metrics`.'
const OFF = [false, 0, '0', ''] as const

export const UNSUPPORTED: readonly UnsupportedKey[] = [
  { key: 'wait_ready', advice: 'A worker is ready when it listens; set `readyPath` to check more.', harmless: [false] },
  { key: 'cron_restart', advice: 'Run `clustered-server reload <name>` from cron or a systemd timer.', harmless: OFF },
  { key: 'shutdown_with_message', advice: 'Workers close the app by its own `close()`.', harmless: [false] },
  { key: 'watch_options', advice: 'Use `ignore_watch`.' },
  { key: 'watch_delay', advice: 'A reload follows 100 ms after the last change.' },
  { key: 'autorestart', advice: 'Dead workers always restart.', harmless: [true] },
  { key: 'max_restarts', advice: 'Restarts end after ten early deaths in a row.' },
  { key: 'min_uptime', advice: RESTARTS },
  { key: 'restart_delay', advice: RESTARTS, harmless: [0] },
  { key: 'exp_backoff_restart_delay', advice: RESTARTS, harmless: [0] },
  { key: 'stop_exit_codes', advice: 'Dead workers always restart.' },
  { key: 'kill_retry_time', advice: 'Workers are killed once, by SIGKILL.' },
  { key: 'out_file', advice: OUTPUT },
  { key: 'error_file', advice: OUTPUT },
  { key: 'log_file', advice: OUTPUT, harmless: [false] },
  { key: 'merge_logs', advice: OUTPUT, harmless: [true, false] },
  { key: 'disable_logs', advice: OUTPUT, harmless: [false] },
  { key: 'log_type', advice: 'The server logs JSON lines unless stderr is a terminal.', harmless: ['json', 'raw'] },
  { key: 'log_date_format', advice: 'Log lines of the server carry a timestamp; the output of the app is unchanged.' },
  {
    key: 'time',
    advice: 'Log lines of the server carry a timestamp; the output of the app is unchanged.',
    harmless: OFF,
  },
  { key: 'instance_var', advice: 'The environment variable CLUSTERED_SERVER_WORKER has the id of the worker.' },
  { key: 'increment_var', advice: 'All workers have the same environment.' },
  { key: 'filter_env', advice: 'Clear the environment before the start, as by `env -i`.', harmless: [false] },
  { key: 'uid', advice: 'Start the server as that user.' },
  { key: 'gid', advice: 'Start the server as that group.' },
  {
    key: 'disable_source_map_support',
    advice: 'Source maps are off by default.',
    harmless: [true, false],
  },
  { key: 'execute_command', advice: 'The app is a module.', harmless: [false] },
  { key: 'namespace', advice: DAEMON },
  { key: 'name_prefix', advice: DAEMON },
  { key: 'append_env_to_name', advice: DAEMON, harmless: [false] },
  { key: 'install_url', advice: DAEMON },
  { key: 'post_update', advice: DAEMON },
  { key: 'force', advice: DAEMON, harmless: [false] },
  { key: 'autostart', advice: 'The app starts with the server.', harmless: [true] },
  { key: 'vizion', advice: DAEMON, harmless: [true, false] },
  { key: 'automation', advice: DAEMON, harmless: [true, false] },
  { key: 'treekill', advice: 'End child processes when the app closes.', harmless: [true] },
  { key: 'username', advice: DAEMON },
  { key: 'write', advice: DAEMON, harmless: [true, false] },
  { key: 'windowsHide', advice: DAEMON, harmless: [true] },
  { key: 'pmx', advice: PLUS, harmless: [true, false] },
  { key: 'io', advice: PLUS },
  { key: 'trace', advice: PLUS, harmless: [false] },
  { key: 'disable_trace', advice: PLUS, harmless: [true] },
  { key: 'v8', advice: PLUS, harmless: [false] },
  { key: 'event_loop_inspector', advice: PLUS, harmless: [false] },
  { key: 'deep_monitoring', advice: PLUS, harmless: [false] },
]

/** Other names that PM2 takes, beside the camel case of each key. */
const ALIASES: Readonly<Record<string, string>> = {
  exec: 'script',
  exec_interpreter: 'interpreter',
  execInterpreter: 'interpreter',
  interpreter_args: 'node_args',
  interpreterArgs: 'node_args',
  out: 'out_file',
  output: 'out_file',
  out_log: 'out_file',
  error: 'error_file',
  err: 'error_file',
  err_file: 'error_file',
  err_log: 'error_file',
  log: 'log_file',
  pid: 'pid_file',
  cron: 'cron_restart',
  combine_logs: 'merge_logs',
  user: 'uid',
}

const NAMES = new Map(
  [...Object.keys(MAPPED), ...UNSUPPORTED.map(({ key }) => key)].flatMap((key) => [
    [key, key],
    [key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), key],
  ]),
)

/** The name by which the tables above know a key of an ecosystem file. `undefined` for a key that PM2 does not know. */
export function keyOf(name: string): string | undefined {
  return NAMES.get(name) ?? (Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined)
}

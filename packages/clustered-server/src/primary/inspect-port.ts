// Each worker debugs on a port of its own, as under node:cluster: the port of the flag plus the id of the worker.

const DEFAULT_PORT = 9229
const MIN_PORT = 1024
const MAX_PORT = 65_535

/** `--inspect`, `--inspect-brk`, `--inspect-wait` and `--inspect-port`, with an address or without. */
const FLAG = /^(--inspect(?:-brk|-wait|-port)?|--debug-port)(?:=(.*))?$/
/** Flags whose value is the next argument. */
const TAKES_NEXT = /^--(?:inspect-port|debug-port)$/

/** Node arguments of a worker, with a port of its own in the flags of the inspector. */
export function withInspectPort(execArgv: readonly string[], worker: number): string[] {
  const joined: string[] = []
  for (const [index, arg] of execArgv.entries()) {
    const isValue = index > 0 && TAKES_NEXT.test(execArgv[index - 1]!)
    if (isValue) joined[joined.length - 1] += `=${arg}`
    else joined.push(arg)
  }
  return joined.map((arg) => flagOf(arg, worker))
}

/** The same for `NODE_OPTIONS`. */
export function withInspectPortInOptions(options: string | undefined, worker: number): string | undefined {
  return options?.replaceAll(/--inspect\S*/g, (flag) => flagOf(flag, worker))
}

function flagOf(arg: string, worker: number): string {
  const [, flag, address = ''] = FLAG.exec(arg) ?? []
  if (flag === undefined) return arg
  const { host, port } = parts(address)
  // 0 stands for any free port.
  const own = port === 0 ? 0 : wrapped(port + worker)
  return `${flag}=${host === '' ? '' : `${host}:`}${own}`
}

/** The host, with the brackets of an IPv6 address, and the port of `[host:]port`. Either may be missing. */
function parts(address: string): { host: string; port: number } {
  const colon = address.endsWith(']') ? -1 : address.lastIndexOf(':')
  const last = address.slice(colon + 1)
  if (/^\d+$/.test(last)) return { host: address.slice(0, Math.max(0, colon)), port: Number(last) }
  return { host: address, port: DEFAULT_PORT }
}

function wrapped(port: number): number {
  return port <= MAX_PORT ? port : MIN_PORT + ((port - MAX_PORT - 1) % (MAX_PORT - MIN_PORT + 1))
}

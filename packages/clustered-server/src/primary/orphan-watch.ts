import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Reads the workers' process ids, all of them in each line, until the primary has gone and with it the other end. Then it
 * gives them their time, and kills those that are still there before two seconds are over; where `sleep` knows no parts
 * of a second, a little later. Those that have ended meanwhile are crossed off, as their ids may become those of others.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM
left=
while read -r line; do left=$line; done
for time in 1 2; do
  test "$left" || exit 0
  sleep 0.85 || sleep 1
  there=
  for pid in $left; do kill -0 $pid && there="$there $pid"; done
  left=$there
done
test "$left" && kill -KILL $left
`

/**
 * Sees to it that no worker outlives the primary for long. A worker notices the primary's death by its event loop, and
 * one whose loop is stuck does not. A thread in each worker would take 10 MB of each; this is one shell with 0.2 MB.
 */
export class OrphanWatch {
  #shell: ChildProcess | undefined
  #isMissing = false

  /** Has these processes end with this one, and no others. */
  watch(pids: readonly number[]): void {
    this.#shell ??= this.#isMissing ? undefined : this.#start()
    this.#shell?.stdin?.write(`${pids.join(' ')}\n`)
  }

  /** Watches none from now on. */
  end(): void {
    this.#shell?.stdin?.end('\n')
  }

  #start(): ChildProcess {
    const shell = spawn('/bin/sh', ['-c', SCRIPT, 'clustered-server: ends workers without a primary'], {
      // It keeps no folder and no pipe of its own in use.
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    const lost = (): void => {
      if (this.#shell === shell) this.#shell = undefined
    }
    // An image without a shell is a container's, and takes its processes with it.
    shell.once('error', ({ code }: NodeJS.ErrnoException) => {
      this.#isMissing = code === 'ENOENT'
      lost()
    })
    // Somebody has killed it: the next word starts another one.
    shell.once('exit', lost)
    shell.stdin?.on('error', () => {})
    // It keeps this process from nothing.
    shell.unref()
    ;(shell.stdin as { unref?: () => void } | null)?.unref?.()
    return shell
  }
}

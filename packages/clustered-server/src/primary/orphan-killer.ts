import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Each line replaces the list of worker pids. At end of input the primary is gone: kills the workers that are still alive
 * after less than 2 s; longer where `sleep` takes whole seconds only. Workers that end meanwhile are dropped from the
 * list, as their pids may be reused.
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
 * Kills workers that outlive the primary. A worker notices the primary's death by its event loop, which may be blocked.
 * One shell for all workers takes 0.2 MB. See docs/measurements.md#watch-processes
 */
export class OrphanWatch {
  #shell: ChildProcess | undefined
  #isMissing = false

  /** Watches exactly these processes from now on. */
  watch(pids: readonly number[]): void {
    this.#shell ??= this.#isMissing ? undefined : this.#start()
    this.#shell?.stdin?.write(`${pids.join(' ')}\n`)
  }

  /** Stops watching. */
  end(): void {
    this.#shell?.stdin?.end('\n')
  }

  #start(): ChildProcess {
    const shell = spawn('/bin/sh', ['-c', SCRIPT, 'clustered-server: ends workers without a primary'], {
      // It must not keep a folder or a pipe in use.
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    const lost = (): void => {
      if (this.#shell === shell) this.#shell = undefined
    }
    // An image without a shell belongs to a container, which ends all its processes.
    shell.once('error', ({ code }: NodeJS.ErrnoException) => {
      this.#isMissing = code === 'ENOENT'
      lost()
    })
    // If the shell is killed, the next call starts another one.
    shell.once('exit', lost)
    shell.stdin?.on('error', () => {})
    // It must not keep this process alive.
    shell.unref()
    ;(shell.stdin as { unref?: () => void } | null)?.unref?.()
    return shell
  }
}

import type { Readable, Writable } from 'node:stream'
import { LinePrefix } from './line-prefix.ts'

let own: { readonly stdout: SharedOutput; readonly stderr: SharedOutput } | undefined

/** The outputs of this process, for workers whose output gets a prefix. */
export function ownOutputs(): { readonly stdout: SharedOutput; readonly stderr: SharedOutput } {
  return (own ??= { stdout: new SharedOutput(process.stdout), stderr: new SharedOutput(process.stderr) })
}

/** An output of this process, into which the outputs of all workers go. */
export class SharedOutput {
  readonly #output: Writable
  /** Sources that wait until the output has room. */
  readonly #waiting = new Set<Readable>()

  constructor(output: Writable) {
    this.#output = output
    // One listener for all workers. When the output is lost, workers must not wait for it.
    for (const event of ['drain', 'error', 'close'] as const) output.on(event, () => this.#resume())
  }

  /**
   * Copies the lines of a source, each with a prefix.
   *
   * @returns a promise of the end of the source, when all of it has been written
   */
  copy(source: Readable, prefix: string): Promise<void> {
    const lines = new LinePrefix(prefix)
    source.on('data', (chunk: Buffer) => {
      if (this.#write(lines.add(chunk))) return
      this.#waiting.add(source)
      source.pause()
    })
    return new Promise((resolve) => {
      source.once('close', () => {
        this.#waiting.delete(source)
        this.#write(lines.end())
        resolve()
      })
      source.on('error', () => source.destroy())
    })
  }

  /** Returns whether there is room for more. Writes nothing where the output is lost. */
  #write(text: Buffer): boolean {
    if (text.length === 0 || this.#output.destroyed || this.#output.errored) return true
    return this.#output.write(text)
  }

  #resume(): void {
    for (const source of this.#waiting) source.resume()
    this.#waiting.clear()
  }
}

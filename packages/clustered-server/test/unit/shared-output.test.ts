import { once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { SharedOutput } from '../../src/primary/shared-output.ts'

const LINE = `${'x'.repeat(99)}\n`

/** An output that takes one write at a time, when it is told to. */
class SlowOutput extends Writable {
  text = ''
  #next: (() => void) | undefined

  constructor() {
    super({ highWaterMark: 1 })
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    this.#next = done
  }

  take(): void {
    this.#next?.()
  }
}

it('writes the lines of several sources, each with its prefix', async () => {
  const output = new PassThrough()
  const shared = new SharedOutput(output)
  const [one, two] = [new PassThrough(), new PassThrough()]
  const ended = Promise.all([shared.copy(one, '[1] '), shared.copy(two, '[2] ')])
  one.write('a')
  two.write('b\n')
  one.end('c\n')
  two.end('without an end')
  await ended
  const lines = output.read().toString().split('\n').toSorted()
  expect(lines).toEqual(['', '[1] ac', '[2] b', '[2] without an end'])
})

it('waits for an output that has no room, and goes on when it has', async () => {
  const output = new SlowOutput()
  const source = new PassThrough({ highWaterMark: 1000 })
  const ended = new SharedOutput(output).copy(source, '')
  source.write(LINE)
  await turn()
  expect(source.isPaused()).toBe(true)
  for (let count = 0; count < 100; count++) source.write(LINE)
  await turn()
  expect(output.text).toBe(LINE)
  source.end()
  for (let count = 0; count < 101; count++) {
    output.take()
    await turn()
  }
  await ended
  expect(output.text).toBe(LINE.repeat(101))
})

it('drops output, and stops nothing, once the output is lost', async () => {
  const output = new SlowOutput()
  output.on('error', () => {})
  const sources = [new PassThrough(), new PassThrough()]
  const shared = new SharedOutput(output)
  const ended = Promise.all(sources.map((source) => shared.copy(source, '')))
  for (const source of sources) source.write(LINE)
  await turn()
  expect(sources.map((source) => source.isPaused())).toEqual([true, true])
  output.destroy(new Error('EPIPE'))
  for (const source of sources) source.end(LINE.repeat(10_000))
  await ended
})

it('adds no listeners to the output for further sources', async () => {
  const output = new PassThrough()
  const shared = new SharedOutput(output)
  const count = (): number => output.eventNames().reduce((sum, name) => sum + output.listenerCount(name), 0)
  const before = count()
  const sources = Array.from({ length: 50 }, () => new PassThrough())
  const ended = sources.map((source) => shared.copy(source, ''))
  expect(count()).toBe(before)
  for (const source of sources) source.end()
  await Promise.all(ended)
})

it('outlives an error of a source', async () => {
  const source = new PassThrough()
  const ended = new SharedOutput(new PassThrough()).copy(source, '')
  const closed = once(source, 'close')
  source.destroy(new Error('EIO'))
  await closed.catch(() => {})
  await ended
})

import { once } from 'node:events'
import { expect, it, vi } from 'vitest'
import { audibleLog } from '../../src/index.ts'

// Node prints warnings by a listener of its own.
process.removeAllListeners('warning')

const noop = (): void => {}
/** A logger as Fastify has it without the option `logger`. */
const silent = { info: noop, warn: noop, error: noop }

it.each([
  ['a text', ['the cache is off'], 'the cache is off'],
  ['details and a text', [{ dir: 'web' }, 'the cache is off'], 'the cache is off'],
  ['the message of an error', [{ err: new Error('no folder') }, 'the cache is off'], 'the cache is off (no folder)'],
  ['an error that the text quotes', [{ err: new Error('no folder') }, 'off: no folder'], 'off: no folder'],
] as const)('warns of the process where the app has no logger, with %s', async (_, args, message) => {
  for (const method of ['warn', 'error'] as const) {
    const warning = once(process, 'warning')
    const [details, text] = args as readonly [string | object, string?]
    audibleLog(silent as Record<typeof method, (details: object | string, text?: string) => void>, 'MyWarning')[method](
      details,
      text,
    )
    expect(await warning).toEqual([expect.objectContaining({ name: 'MyWarning', message })])
  }
})

it('gives the details to the warning', async () => {
  const warning = once(process, 'warning')
  audibleLog<{ warn(details: object, text: string): void; error(): void }>(silent, 'MyWarning').warn(
    { tags: ['a'] },
    'x',
  )
  expect(await warning).toEqual([expect.objectContaining({ message: 'x', detail: "{ tags: [ 'a' ] }" })])
})

it('keeps the other methods of a silent logger', () => {
  expect(audibleLog(silent, 'MyWarning').info).toBe(noop)
})

it.each([
  ['a logger', { warn: vi.fn<() => void>(), error: vi.fn<() => void>() }],
  ['a logger with the level silent', { level: 'silent', warn: noop, error: noop }],
])('returns %s as it is', (_, log) => {
  expect(audibleLog(log, 'MyWarning')).toBe(log)
})

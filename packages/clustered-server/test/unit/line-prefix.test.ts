import { describe, expect, it } from 'vitest'
import { LinePrefix } from '../../src/primary/line-prefix.ts'

const MEBIBYTE = 2 ** 20

/** The output for chunks, one after the other, and its end. */
function prefixed(...chunks: (string | Buffer)[]): string {
  const lines = new LinePrefix('[1] ')
  return Buffer.concat([...chunks.map((chunk) => lines.add(Buffer.from(chunk as string))), lines.end()]).toString()
}

it.each([
  ['several lines of a chunk', ['a\nb\n'], '[1] a\n[1] b\n'],
  ['an empty line', ['a\n\nb\n'], '[1] a\n[1] \n[1] b\n'],
  ['a line in pieces', ['a', 'b', 'c\nd', '\n'], '[1] abc\n[1] d\n'],
  ['a last line without an end', ['a\nb'], '[1] a\n[1] b\n'],
  ['no output', [], ''],
  ['carriage returns', ['a\r\n'], '[1] a\r\n'],
])('prefixes %s', (_, chunks, output) => {
  expect(prefixed(...chunks)).toBe(output)
})

it('holds a line back until it ends', () => {
  const lines = new LinePrefix('[1] ')
  expect(lines.add(Buffer.from('a\nb')).toString()).toBe('[1] a\n')
  expect(lines.add(Buffer.from('c')).toString()).toBe('')
  expect(lines.add(Buffer.from('\n')).toString()).toBe('[1] bc\n')
  expect(lines.end().toString()).toBe('')
})

it('keeps characters whole that come in two chunks', () => {
  const bytes = Buffer.from('grüße 🙂\n')
  for (let cut = 1; cut < bytes.length; cut++)
    expect(prefixed(bytes.subarray(0, cut), bytes.subarray(cut))).toBe('[1] grüße 🙂\n')
})

describe('JSON', () => {
  it.each([['{"level":30,"msg":"a"}\n'], ['{}\n'], ['{"a":{}}\r\n']])('leaves %j unchanged', (line) => {
    expect(prefixed(line)).toBe(line)
  })

  it('leaves it unchanged in pieces, and without an end', () => {
    expect(prefixed('{"a"', ':1}\n{"b"', ':2}')).toBe('{"a":1}\n{"b":2}\n')
  })

  it.each([['{ a: 1 }\n'], ['{\n'], ['}\n'], ['{"a":1\n'], ['["a"]\n'], [' {"a":1}\n']])('prefixes %j', (line) => {
    expect(prefixed(line)).toBe(`[1] ${line}`)
  })
})

describe('long lines', () => {
  it('keeps a line of 1 MiB whole', () => {
    const line = 'x'.repeat(MEBIBYTE)
    expect(prefixed(`${line}\n`)).toBe(`[1] ${line}\n`)
    expect(prefixed(line, '\n')).toBe(`[1] ${line}\n`)
    expect(prefixed(line)).toBe(`[1] ${line}\n`)
  })

  it('cuts a longer line into lines of 1 MiB', () => {
    const [full, rest] = ['x'.repeat(MEBIBYTE), 'y'.repeat(10)]
    const expected = `[1] ${full}\n[1] ${full}\n[1] ${rest}\n`
    expect(prefixed(`${full}${full}${rest}\n`)).toBe(expected)
    expect(prefixed(full, full, rest, '\n')).toBe(expected)
  })

  it('never holds more than 1 MiB back', () => {
    const lines = new LinePrefix('')
    const chunk = Buffer.alloc(64 * 1024, 'x')
    let [added, written] = [0, 0]
    for (let count = 0; count < 100; count++) {
      added += chunk.length
      written += lines.add(chunk).length
      expect(added - written).toBeLessThanOrEqual(MEBIBYTE)
    }
  })
})

import { describe, expect, it } from 'vitest'
import { parseSubject, parseSubjects } from '../../../src/cli/subject-argument.ts'

it.each<[text: string, name: string, command: string[]]>([
  ['go=./server --listen {host}:{port}', 'go', ['./server', '--listen', '{host}:{port}']],
  ['go=./server --name="a b"', 'go', ['./server', '--name=a b']],
  ['./server \'a b\' "c d"', 'server', ['./server', 'a b', 'c d']],
  ['./server "" x', 'server', ['./server', '', 'x']],
  [String.raw`go=C:\tools\server.exe --port {port}`, 'go', [String.raw`C:\tools\server.exe`, '--port', '{port}']],
])('splits the command line %j', (text, name, command) => {
  expect(parseSubject(text)).toEqual([name, { command }])
})

it('takes the path of a file that exists, and names it after the file', () => {
  const file = import.meta.filename
  expect(parseSubject(file)).toEqual(['subject-argument.test', file])
  expect(parseSubject(`ours=${file}`)).toEqual(['ours', file])
})

it.each(['no-such-file.ts', 'name=no-such-file.mjs', '', 'name='])(
  'rejects %j, which is neither a file nor a command line',
  (text) => {
    expect(() => parseSubject(text)).toThrow(
      `Invalid subject: expected a file that exists or a command line, got "${text}".`,
    )
  },
)

it.each(['go=./server --name="a b', "./server it's"])('rejects %j, whose quote is not closed', (text) => {
  expect(() => parseSubject(text)).toThrow(`Invalid subject: expected closed quotes, got ${JSON.stringify(text)}.`)
})

describe('parseSubjects', () => {
  it('has the subjects by name', () => {
    expect(parseSubjects(['a=./server a', 'b=./server b'])).toEqual({
      a: { command: ['./server', 'a'] },
      b: { command: ['./server', 'b'] },
    })
  })

  it('rejects a name that two subjects have', () => {
    expect(() => parseSubjects(['./server a', 'b=./server b', './server c'])).toThrow(
      'Invalid subjects: expected different names, got "server" twice. Name one of them, as in other=server.js.',
    )
  })
})

import { expect, it } from 'vitest'
import { parseSubject } from '../../../src/cli/subject-argument.ts'

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

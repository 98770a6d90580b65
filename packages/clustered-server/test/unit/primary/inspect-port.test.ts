import { expect, it } from 'vitest'
import { withInspectPort, withInspectPortInOptions } from '../../../src/primary/inspect-port.ts'

it.each([
  [['--inspect'], ['--inspect=9230']],
  [['--inspect=9300'], ['--inspect=9301']],
  [['--inspect=0.0.0.0'], ['--inspect=0.0.0.0:9230']],
  [['--inspect-brk=127.0.0.1:9300'], ['--inspect-brk=127.0.0.1:9301']],
  [['--inspect=[::1]:9300'], ['--inspect=[::1]:9301']],
  [['--inspect=localhost'], ['--inspect=localhost:9230']],
  [
    ['--inspect-wait', '--inspect-port=9400'],
    ['--inspect-wait=9230', '--inspect-port=9401'],
  ],
  [
    ['--inspect-port', '9400', '--no-warnings'],
    ['--inspect-port=9401', '--no-warnings'],
  ],
  [['--inspect=0'], ['--inspect=0']],
  [['--inspect=65535'], ['--inspect=1024']],
  [
    ['--inspect-publish-uid=http', '--max-old-space-size=100'],
    ['--inspect-publish-uid=http', '--max-old-space-size=100'],
  ],
  [[], []],
])('gives worker 1 of %j a port of its own', (given, expected) => {
  expect(withInspectPort(given, 1)).toEqual(expected)
})

it.each([
  [undefined, undefined],
  ['--no-warnings', '--no-warnings'],
  ['--no-warnings --inspect', '--no-warnings --inspect=9231'],
  ['--inspect=127.0.0.1:9300 --import ./a.js', '--inspect=127.0.0.1:9302 --import ./a.js'],
])('gives worker 2 of NODE_OPTIONS=%j a port of its own', (given, expected) => {
  expect(withInspectPortInOptions(given, 2)).toBe(expected)
})

import { expect, it } from 'vitest'
import { placeIn } from '../../src/app/error-place.ts'

const internal = '    at compileSourceTextModule (node:internal/modules/esm/utils:346:16)'
const own = `    at load (${new URL('../../src/app/load-app.ts', import.meta.url).href}:1:2)`

it.each([
  ['a frame', `Error: a\n b\n${internal}\n    at run (file:///a/app.js:3:7)\n${own}`, 'file:///a/app.js:3:7'],
  ['a frame without a function', 'Error: a\n    at async file:///a/app.js:3:7', 'file:///a/app.js:3:7'],
  ['a syntax error of CommonJS', `/a/app.cjs:4\n\n\n\nSyntaxError: a\n${internal}\n${own}`, '/a/app.cjs:4'],
  [
    'a syntax error of TypeScript',
    `file:///a/app.ts:3\n\nconst b: = 5\n\nSyntaxError: a\n${own}`,
    'file:///a/app.ts:3',
  ],
])('finds the place of %s', (_title, stack, place) => {
  expect(placeIn(stack)).toBe(place)
})

it.each([
  ['this package', `Error: a\n${internal}\n${own}`],
  ['Node', `SyntaxError: a\n${internal}`],
  ['no stack', ''],
])('finds no place in %s', (_title, stack) => {
  expect(placeIn(stack)).toBeUndefined()
})

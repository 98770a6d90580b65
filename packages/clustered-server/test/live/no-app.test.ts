// Modules that have no app, or that can never finish to load: the start fails once nothing is left to run.

import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { freePort } from '../helpers/free-port.ts'
import { Project } from '../helpers/project.ts'

const LISTEN = "require('node:http').createServer((_, response) => response.end('hello')).listen(process.env.PORT)"

/** Longer than any test: only an early failure passes. */
const ONLY_EARLY = '30h'

async function failureOf(workers: number, file: string, text: string): Promise<{ code: number | null; line: string }> {
  const project = new Project({ [file]: text })
  const command = project.run([file, '--workers', String(workers), '--port', '0', '--start-timeout', ONLY_EARLY])
  const code = await command.exit
  const [, line = ''] = /^clustered-server: (?:Worker \d+ did not start: )?(.*)\n/m.exec(command.stderr) ?? []
  return { code, line: line.replaceAll(pathToFileURL(project.path(file)).href, 'APP') }
}

async function responseOf(file: string, text: string, flags: readonly string[]): Promise<string> {
  const command = new Project({ [file]: text }).run([file, ...flags])
  const { port } = await command.listening()
  return await (await fetch(`http://127.0.0.1:${port}`)).text()
}

describe.each([1, 2])('fails early and names the default export (workers: %i)', (workers) => {
  it.each([
    ['app.mjs', 'export default { a: 1, b: 2 }', 'its default export is an object with the keys a, b'],
    ['app.cjs', 'module.exports = { a: 1 }', 'its default export is an object with the key a'],
    ['app.mjs', 'export default []', 'its default export is an array'],
    ['app.mjs', 'export default null', 'its default export is null'],
    ['app.mjs', 'export default new (class Shop {})()', 'its default export is an instance of Shop'],
    ['app.mjs', 'export default () => ({ secret: 1 })', 'its default export returned an object with the key secret'],
    ['app.mjs', 'export default () => {}', 'its default export returned undefined'],
    ['app.cjs', 'module.exports = {}', 'its default export is an empty object'],
    ['app.mjs', 'export default class Shop {}', 'its default export is class Shop'],
    [
      'app.mjs',
      'export default class Shop { constructor(fastify, b) { this.a = [fastify, b] } }',
      'its default export is class Shop',
    ],
    ['app.mjs', 'export const app = 1, port = 2', 'it has no default export, only app, port'],
    ['app.mjs', "import { createServer } from 'node:http'; createServer()", 'it has no default export'],
    [
      'app.cjs',
      'exports.app = require("node:http").createServer()',
      'its default export is an object with the key app',
    ],
  ])('%s: %s', async (file, text, found) => {
    const { code, line } = await failureOf(workers, file, text)
    expect(line).toMatch(/^Expected APP to export an app or to listen on port \d+, but /)
    expect(line).toContain(
      `, but ${found}, and nothing is left to run that could listen: export the app, or have it listen on process.env.PORT`,
    )
    expect(code).toBe(1)
  })

  it.each([
    ['app.mjs', 'export default 42', 'number'],
    ['app.cjs', 'module.exports = Object.assign((_req, _res, next) => next(), { stack: [], handle() {} })', 'a router'],
  ])('%s: %s', async (file, text, found) => {
    const { line } = await failureOf(workers, file, text)
    expect(line).toMatch(/^Expected APP to have a default export that is a function without parameters, /)
    expect(line).toMatch(new RegExp(`; got ${found}(:|$)`))
  })

  it.each([
    ['app.mjs', 'await new Promise(() => {}); export default 1'],
    ['app.mjs', 'export default () => new Promise(() => {})'],
    ['app.mjs', 'export default (request, response) => {}; export const warmUp = () => new Promise(() => {})'],
  ])('of a promise that never settles: %s %s', async (file, text) => {
    const { line } = await failureOf(workers, file, text)
    expect(line).toBe(
      'Expected APP to load, but it awaits a promise that nothing is left to settle: correct its default export, its warmUp or a top-level await',
    )
  })
})

it.each([1, 2])('accepts a promise of an app or of a factory (workers: %i)', async (workers) => {
  for (const app of ['listener', '() => listener']) {
    const text = `const listener = (request, response) => response.end('hello'); export default Promise.resolve(${app})`
    const at = ['--port', '0', '--host', '127.0.0.1', '--workers', String(workers)]
    expect(await responseOf('app.mjs', text, at)).toBe('hello')
  }
})

describe.each([1, 2])('accepts an app that listens later (workers: %i)', (workers) => {
  it.each([
    ['after a timer', `setTimeout(() => ${LISTEN}, 300); module.exports = { a: 1 }`],
    ['after a file is read', `require('node:fs').readFile(__filename, () => ${LISTEN}); module.exports = { a: 1 }`],
    ['in beforeExit', `process.once('beforeExit', () => ${LISTEN})`],
    [
      'after another port',
      `require('node:http').createServer().listen({ port: 0, host: '127.0.0.1' }, () => ${LISTEN}); module.exports = { a: 1 }`,
    ],
    ['beside a class', `setTimeout(() => ${LISTEN}, 300); module.exports = class Shop {}`],
    [
      'after another port was opened and closed',
      `const other = require('node:net').createServer()
       other.listen({ port: 0, host: '127.0.0.1' }, () => other.close(() => ${LISTEN}))`,
    ],
  ])('%s', async (_title, text) => {
    const at = ['--port', String(await freePort()), '--host', '127.0.0.1']
    expect(await responseOf('app.cjs', text, ['--workers', String(workers), ...at])).toBe('hello')
  })
})

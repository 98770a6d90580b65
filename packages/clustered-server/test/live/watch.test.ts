// `--watch`: a reload for each change, for development.

import { mkdirSync, renameSync } from 'node:fs'
import { expect, it } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import type { Command } from '../helpers/command.ts'
import { Project } from '../helpers/project.ts'

const app = (text: string): string =>
  `import { createServer } from 'node:http'\nexport default () => createServer((request, response) => response.end(${text}))\n`
const flags = ['start', 'main.mjs', '--port', '0', '--host', '127.0.0.1']

async function responseOf(command: Command): Promise<string> {
  const { port } = await command.listening()
  return (await fetch(`http://127.0.0.1:${port}`)).text()
}

async function responds(command: Command, text: string): Promise<void> {
  await eventually(async () => (await responseOf(command)) === text || undefined)
}

const messages = (command: Command, level: number): string[] =>
  command.log.filter((line) => line.level === level).map(({ msg }) => msg)

it('reloads when a file is saved, created in a new directory or replaced, and ignores others', async () => {
  const project = new Project({
    'main.mjs': app("'one'"),
    'tsconfig.json': '{ "compilerOptions": {\n  // comment\n  "outDir": "./build",\n} }',
    '.env': 'SHADE=red\n',
  })
  for (const folder of ['node_modules', 'build', '.git']) mkdirSync(project.path(folder))
  const server = project.run([...flags, '--watch', '--env-file', '.env'])
  await responds(server, 'one')
  expect(messages(server, 40)).toContain('watching . for changes, which is for development only')
  expect(messages(server, 30)).toContainEqual(expect.stringMatching(/^listening on .*: 1 worker$/))
  for (const ignored of ['node_modules/a.js', 'build/a.js', '.git/a.js', 'app.log', '.swap.js'])
    project.write(ignored, '1')
  project.write('main.mjs', app("'two'"))
  await responds(server, 'two')
  mkdirSync(project.path('lib'))
  project.write('lib/text.mjs', "export default 'three'")
  project.write('main.mjs', `import text from './lib/text.mjs'\n${app('text')}`)
  await responds(server, 'three')
  project.write('lib/new.mjs', "export default 'four'")
  renameSync(project.path('lib/new.mjs'), project.path('lib/text.mjs'))
  await responds(server, 'four')
  project.write('main.mjs', app('process.env.SHADE'))
  await responds(server, 'red')
  project.write('.env', 'SHADE=green\n')
  await responds(server, 'green')
  const changed = messages(server, 30).filter((msg) => msg.startsWith('changed: '))
  expect(changed.filter((msg) => /node_modules|build|\.git|app\.log|swap/.test(msg))).toEqual([])
})

it('keeps the running version after a broken save, with one error each, until the next good one', async () => {
  const project = new Project({ 'main.mjs': app("'one'") })
  const server = project.run([...flags, '--watch'])
  await responds(server, 'one')
  project.write('main.mjs', 'export default () => {{')
  await server.logged(({ level }) => level === 50)
  expect(await responseOf(server)).toBe('one')
  project.write('lib.cjs', '\nmodule.exports = {{')
  project.write('main.mjs', "import './lib.cjs'")
  await eventually(() => messages(server, 50).length === 2 || undefined)
  project.write('main.mjs', app("'two'"))
  await responds(server, 'two')
  const errors = messages(server, 50)
  const text = 'The new version did not start, the old one keeps running: '
  expect(errors).toEqual([
    `${text}Worker 2 did not start: SyntaxError: Unexpected end of input`,
    `${text}Worker 3 did not start: SyntaxError: Unexpected token '{' (${project.path('lib.cjs')}:2)`,
  ])
  server.kill('SIGINT')
  expect(await server.exit).toBe(0)
})

/** A project whose ecosystem file watches. */
function watching(environment: string): Project {
  const ecosystem = { name: 'web', script: 'main.mjs', watch: ['views'], ignore_watch: 'tmp', port: 0 }
  const project = new Project({
    'main.mjs': app("'one'"),
    'ecosystem.config.json': JSON.stringify({ apps: [{ ...ecosystem, env: { NODE_ENV: environment } }] }),
  })
  mkdirSync(project.path('views'))
  return project
}

it('watches the paths of an ecosystem file, with all files in them', async () => {
  const project = watching('development')
  const server = project.run(['start'])
  await server.listening()
  expect(messages(server, 40)).toContain('watching views for changes, which is for development only')
  project.write('views/index.html', '<p>')
  await server.logged(({ msg }) => msg === 'changed: views/index.html')
  await server.logged(({ msg }) => msg.startsWith('reloaded: generation 2 is active'))
})

it('ignores watch of an ecosystem file in production', async () => {
  const server = watching('production').run(['start'])
  await server.listening()
  const lines = messages(server, 40).filter((msg) => msg.includes('watch'))
  expect(lines).toEqual(['watch: ignored where NODE_ENV is production'])
})

it.each([
  [['--watch-path', 'missing'], 'cannot watch missing: there is no such file or directory'],
  [['--watch-ignore', 'a'], '--watch-ignore needs --watch'],
])('rejects %j', async (more, message) => {
  const project = new Project({ 'main.mjs': app("'one'") })
  const server = project.run([...flags, ...more])
  expect(await server.exit).toBe(2)
  expect(server.stderr).toBe(`clustered-server: ${message}\n`)
})

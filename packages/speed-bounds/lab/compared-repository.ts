// Makes a repository for `speed-bounds compare`: a commit for each release of Fastify, one without any difference, and two
// that cost more by a known share.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Nanoseconds of a response of the newest release, about. */
const RESPONSE = 14_000

const RELEASES = '0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 10.0 11.0 12.0 12.8'.split(' ').map((minor) => `5.${minor}`)

/** A loop whose time depends on the speed of the core, as that of real work does. */
function spin(times: number): number {
  let value = 1
  for (let count = 0; count < times; count++) value = (Math.imul(value, 31) + count) | 0
  return value
}

/** Nanoseconds of one turn of the loop. */
function timeOfTurn(): number {
  const turns = 1e8
  spin(1e6)
  const began = performance.now()
  spin(turns)
  return ((performance.now() - began) * 1e6) / turns
}

const server = (turns: number): string => `import Fastify from 'fastify'

${spin.toString()}
let kept = 0
const app = Fastify()
app.get('/', () => {
  kept += spin(${turns})
  return { hello: 'world' }
})
process.once('SIGTERM', () => app.close())
await app.listen({ host: process.env.HOST, port: Number(process.env.PORT) })
`

const [, , folder] = process.argv
if (folder === undefined) throw new Error('Name a folder for the repository.')

mkdirSync(folder)
const run = (command: string, ...args: string[]): void => {
  execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}
const git = (...args: string[]): void =>
  run('git', '-c', 'user.name=lab', '-c', 'user.email=lab@example.org', '-c', 'commit.gpgsign=false', ...args)
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
const commit = (tag: string): void => {
  git('add', '.')
  git('commit', '--quiet', '--message', tag)
  git('tag', tag)
}

git('init', '--quiet')
write('.gitignore', 'node_modules\n')
write('speed-bounds.config.json', `${JSON.stringify({ subjects: { server: './server.mjs' }, path: '/' })}\n`)
write('server.mjs', server(0))
for (const release of RELEASES) {
  write('package.json', `${JSON.stringify({ private: true, dependencies: { fastify: release } })}\n`)
  run('npm', 'install', '--package-lock-only', '--no-audit', '--no-fund')
  commit(`v${release}`)
}
git('tag', 'same')
const turn = timeOfTurn()
for (const share of [5, 10]) {
  write('server.mjs', server(Math.round((RESPONSE * share) / 100 / turn)))
  commit(`slower-by-${share}`)
}

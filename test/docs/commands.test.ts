import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8')
const find = (...patterns: string[]): string[] =>
  globSync(patterns, { cwd: root, exclude: ['**/node_modules', '**/dist', '**/.next*', '**/test'] }).toSorted()
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

const PNPM = /npx -y pnpm@12 (?:run )?([\w:-]+)/g
const pages = find('*.md', '.github/*.md', '{docs,packages,examples}/**/*.md')
const callers = [...pages, '.ci/run', '.github/workflows/ci.yml'].filter((path) => read(path).match(PNPM) !== null)

it.each(callers)('every pnpm command of %s exists', (path) => {
  const commands = [...read(path).matchAll(PNPM)].map(([, name]) => name!)
  const own = ['install', 'exec', 'pack', '--filter', 'changeset']
  expect(commands.filter((name) => !(name in scripts) && !own.includes(name))).toEqual([])
})

it.each(['README.md', '.github/CONTRIBUTING.md', '.ci/run', '.github/workflows/ci.yml'])('%s calls pnpm', (path) => {
  expect(callers).toContain(path)
})

it.each(find('docs/guides/*.md'))('%s installs packages into a new project first', (path) => {
  const [, code] = /^```sh\n([^]*?)^```$/m.exec(read(path))!
  const lines = code!.split('\n')
  const install = lines.findIndex((line) => line.startsWith('npm install '))
  const hasModules = /^```(?:js|ts)$/m.test(read(path))
  // `npm init` of npm 10 and later writes "type": "commonjs".
  const expected = ['npm init -y', ...(hasModules ? ['npm pkg set type=module'] : [])]
  expect(lines.slice(0, install)).toEqual(expected)
})

describe.each(['aggregator-gateway', 'clustered-server', 'speed-bounds'])('the command %s', (name) => {
  const source = find(`packages/${name}/src/**/*.ts`).map(read).join('\n')
  const isKnown = (flag: string): boolean => new RegExp(`--${flag}\\b|'${flag}'|\\b${flag}: \\{`).test(source)
  const lines = pages.flatMap((page) =>
    [...read(page).matchAll(/^ *```sh\n([^]*?)^ *```$/gm)]
      .flatMap(([, code]) => code!.replaceAll('\\\n', '').split('\n'))
      .filter((line) => line.includes(`npx ${name} `))
      .map((line) => ({ page, line: line.trim() })),
  )

  it('is in the pages', () => {
    expect(lines.length).toBeGreaterThan(1)
  })

  it.each(lines)('has the flags of "$line" in $page', ({ line }) => {
    // Arguments after a lone -- are those of the app.
    const [command] = line.split(/ -- | \| /)
    const flags = [...command!.matchAll(/ --(?:no-)?([\w-]+)/g)].map(([, flag]) => flag!)
    expect(flags.filter((flag) => !isKnown(flag))).toEqual([])
  })

  it('has no flag that does not exist', () => {
    expect(isKnown('wrokers')).toBe(false)
  })
})

it('CI calls the three commands of the README and nothing else', () => {
  const called = [...read('.ci/run').matchAll(/^npx .*$/gm)].map(([line]) => line)
  expect(called).toEqual(['npx -y pnpm@12 test', 'npx -y pnpm@12 test:all', 'npx -y pnpm@12 test:perf'])
  for (const command of called) expect(read('README.md')).toContain(command)
})

it('the README has a row for each package', () => {
  const readme = read('README.md')
  expect(readme).toContain('[`speed-bounds`](packages/speed-bounds)')
})

it.each(['test', 'test:all', 'test:perf'])('the README and CONTRIBUTING state the same time for %s', (name) => {
  const [, minutes] = new RegExp(`^npx -y pnpm@12 ${name} .*: (\\d+) minutes$`, 'm').exec(read('README.md')) ?? []
  const row = new RegExp(`^\\| \`${name}\` .*\\| (\\d+) min +\\|$`, 'm')
  expect(row.exec(read('.github/CONTRIBUTING.md'))?.[1]).toBe(minutes)
  expect(minutes).toBeDefined()
})

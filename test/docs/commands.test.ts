import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

it.each(['README.md', '.github/CONTRIBUTING.md', '.ci/run', '.github/workflows/ci.yml'])(
  'every pnpm command of %s exists',
  (path) => {
    const commands = [...read(path).matchAll(/npx -y pnpm@12 (?:run )?([\w:-]+)/g)].map(([, name]) => name!)
    expect(commands.length).toBeGreaterThan(0)
    const own = ['install', 'exec', 'pack', '--filter']
    expect(commands.filter((name) => !(name in scripts) && !own.includes(name))).toEqual([])
  },
)

it('CI calls the three commands of the README and nothing else', () => {
  const called = [...read('.ci/run').matchAll(/^npx .*$/gm)].map(([line]) => line)
  expect(called).toEqual(['npx -y pnpm@12 test', 'npx -y pnpm@12 test:all', 'npx -y pnpm@12 test:perf'])
  for (const command of called) expect(read('README.md')).toContain(command)
})

it('the README has a row for each package', () => {
  const readme = read('README.md')
  expect(readme).toContain('[`speed-bounds`](packages/speed-bounds)')
})

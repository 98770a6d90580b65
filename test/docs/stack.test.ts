// The steps by which a reader copies examples/stack.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../packaging/workspace-copy.ts'

const folder = join(ROOT, 'examples/stack')
const readme = readFileSync(join(folder, 'README.md'), 'utf8')
const [section] = /^## Copy it\n[\s\S]*?(?=^## )/m.exec(readme)!
/** Files that the table lists. */
const listed = [...section.matchAll(/^\| `(\S+)` /gm)].map(([, name]) => name!)

it('lists each file of examples/stack that needs a file outside of its folder', () => {
  const files = globSync('**/*.{ts,tsx,json}', {
    cwd: folder,
    exclude: (path) => /node_modules|\.next|next-env/.test(path),
  })
  const outside = files.filter((file) => {
    const up = '../'.repeat(file.split('/').length).slice(0, -1)
    const text = readFileSync(join(folder, file), 'utf8')
    return text.includes(`'${up}`) || text.includes(`"${up}`) || text.includes('@examples/close-on-signal')
  })
  const expected = outside.map((file) => file.replace(/^services\/.+/, 'services/*.ts'))
  expect(listed.toSorted()).toEqual([...new Set(expected)].toSorted())
})

it('copies each file that a changed import names', () => {
  const names = [...section.matchAll(/^\| .+ \| Import `(?:\.\.?\/)+(\S+\.ts)`/gm)].map(([, name]) => name!)
  const [command] = /^cp .+$/m.exec(section)!
  expect(names.length).toBe(2)
  for (const name of names) expect(command).toMatch(new RegExp(`/${name}\\b`))
})

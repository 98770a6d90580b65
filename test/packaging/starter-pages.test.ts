// The steps by which the README of examples/starter adds pages of Next, in a copy. `test:nightly` runs it.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import getPort from 'get-port'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { NODES, shell, writeFiles } from './quick-start.ts'
import { bodyOf, Starter } from './starter.ts'
import { demand } from './tarball.ts'
import { ROOT } from './workspace-copy.ts'

const readme = readFileSync(join(ROOT, 'examples/starter/README.md'), 'utf8')
const [section] = /^## Pages\n[\s\S]*?(?=^## )/m.exec(readme)!
const blocks = [...section.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, code]) => code!)
const [commands, ...code] = blocks

const starter = new Starter()
beforeAll(() => starter.install('next-on-fastify'), 180_000)
afterAll(() => starter.remove(), 60_000)

it('shows a page of Next after the steps of its README', async () => {
  const { folder } = starter
  // It is installed already, from its tarball.
  await demand(folder, shell(commands!.replace('install next-on-fastify', 'install'), NODES[24]))
  const files = code.flatMap((text) => {
    const [, name] = /^\/\/ (\S+)\n/.exec(text) ?? []
    return name === undefined ? [] : [[name, text] as const]
  })
  writeFiles(folder, Object.fromEntries(files))
  const [, imported, registered] = /^(import .*\n)\n(.*\n)$/.exec(code.at(-1)!)!
  const app = join(folder, 'src/app.ts')
  const before = readFileSync(app, 'utf8')
  writeFileSync(app, `${imported}${before.replace('  instance.get(', `  ${registered}$&`)}`)
  const port = await getPort()
  starter.start('npm run dev', { PORT: String(port) })
  expect(await bodyOf(port, '/hello')).toContain('Hello from Next')
})

// Each block of TypeScript in the documents type-checks: readers paste it, and options that it names exist.

import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeBlocksOf, typeErrors, unimported } from './code-blocks.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const pages = globSync(['*.md', '.github/*.md', '{docs,packages,examples}/**/*.md'], {
  cwd: root,
  exclude: ['**/node_modules', '**/dist', '**/.next*', '**/test'],
}).toSorted()
const read = (page: string): string => readFileSync(join(root, page), 'utf8')
const blocks = pages.flatMap((page) => codeBlocksOf(page, read(page)))
const wrong = {
  page: 'wrong',
  line: 7,
  code: "app.register(trpcPlugin<AppRouter>, { prefix: '/trpc', trpcOptions, timeout: 1 })\n",
}

/** Packages after `npm install` in a page, in a block or within a sentence. */
const installedBy = (text: string): string[] =>
  [...text.matchAll(/npm install ([^`\n]+)/g)].flatMap(([, names]) => names!.split(' '))

describe.each(pages)('%s', (page) => {
  const text = read(page)
  const [own, name] = /^packages\/([\w-]+)\//.exec(page) ?? []
  const imported = [...text.matchAll(/^ *(?:import|\} from) (?:.* from )?'(@[\w-]+\/[\w-]+|[\w-]+)[/\w-]*'/gm)]

  it('says how to install each package that its code imports', () => {
    const quickStart = own === undefined ? '' : read(`packages/${name}/README.md`)
    const installed = new Set([...installedBy(quickStart), ...installedBy(text), name])
    const missing = imported.map(([, one]) => one!).filter((one) => !installed.has(one))
    expect([...new Set(missing)]).toEqual([])
  })

  it('imports what its code uses of packages', () => {
    expect(unimported(text)).toEqual([])
  })
})

it('a name that is used without an import is reported', () => {
  const use = "```ts\n// swagger.ts\nawait app.register(trpcPlugin, { prefix: '/gatewayPlugin', race: 1 })\n```\n"
  expect(unimported(use)).toEqual(['trpcPlugin'])
  expect(unimported(`\`\`\`diff\n+import { trpcPlugin } from 'trpc-fastify'\n\`\`\`\n${use}`)).toEqual([])
})

describe('TypeScript of the pages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'code-blocks-'))
  let errors: Awaited<ReturnType<typeof typeErrors>>
  beforeAll(async () => {
    errors = await typeErrors(root, folder, [...blocks, wrong])
  }, 120_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each([...new Set(blocks.map(({ page }) => page))])('type-checks in %s', (page) => {
    expect(errors.get(page) ?? []).toEqual([])
  })

  it('is reported by its line if it names an option that does not exist', () => {
    expect(errors.get('wrong')).toEqual([expect.stringMatching(/^line 7: [^]*'timeout' does not exist/)])
  })

  it('has no errors elsewhere', () => {
    expect([...errors].filter(([page]) => page !== 'wrong' && !pages.includes(page))).toEqual([])
  })
})

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const folder = new URL('../../examples/next/', import.meta.url)

it('rejects an unknown NEXT_VARIANT with the variants of the README', async () => {
  const readme = await readFile(new URL('README.md', folder), 'utf8')
  const [, table = ''] = /\n\| variant [^\n]*\n[^\n]*\n((?:\|[^\n]*\n)+)/.exec(readme) ?? []
  const names = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
  expect(names).toContain('proxy')

  const env = { ...process.env, NEXT_VARIANT: 'proxxy' }
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(process.execPath, [fileURLToPath(new URL('build.ts', folder))], { env }, (error, _, text) => {
      resolve({ code: error?.code ?? 0, stderr: text })
    })
  })
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `Invalid NEXT_VARIANT: expected one of ${names.join(', ')}, got "proxxy".\n`,
  })
})

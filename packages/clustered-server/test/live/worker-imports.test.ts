import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const url = (path: string): string => new URL(`../../src/${path}`, import.meta.url).href

it.each(['worker/entry.ts', 'index.ts'])('loads no option schema in a worker, by %s', async (path) => {
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    await import('${url(path)}')
    console.log(JSON.stringify(loaded))
    process.exit()
  `
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
  const loaded = JSON.parse(stdout) as string[]
  expect(loaded).toContain(url(path))
  expect(loaded.filter((one) => /valibot|checked-options|options\/|primary\//.test(one))).toEqual([])
})

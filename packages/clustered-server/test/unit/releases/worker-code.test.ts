import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import type { WorkerCode } from '../../../src/releases/worker-code.ts'

let root = ''
/** Folder for temporary files. */
let temporary = ''
let code: WorkerCode
const logged: string[] = []
const at = (_: object, text: string): void => void logged.push(text)

beforeEach(async () => {
  logged.length = 0
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'clustered-server-code-')))
  root = join(folder, 'src')
  temporary = join(folder, 'tmp')
  mkdirSync(temporary)
  vi.stubEnv('TMPDIR', temporary)
  cpSync(fileURLToPath(new URL('../../../src', import.meta.url)), root, { recursive: true })
  const module = (await import(pathToFileURL(join(root, 'releases/worker-code.ts')).href)) as {
    WorkerCode: typeof WorkerCode
  }
  code = new module.WorkerCode({ info: at, warn: at, error: at })
  onTestFinished(() => {
    code.close()
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
})

const entry = (): string => fileURLToPath(code.entry())
const modeOf = (path: string): number => statSync(path).mode & 0o777

it('is that of the package as long as it is intact', () => {
  expect(entry()).toBe(join(root, 'worker/entry.ts'))
  expect(logged).toEqual([])
})

it('is a private copy once the package was deleted or replaced, and one copy for all workers', () => {
  const before = readFileSync(join(root, 'worker/entry.ts'), 'utf8')
  writeFileSync(join(root, 'ipc/messages.ts'), '')
  const copy = entry()
  rmSync(root, { recursive: true })
  expect(entry()).toBe(copy)
  expect(readFileSync(copy, 'utf8')).toBe(before)
  const folder = dirname(dirname(copy))
  expect(dirname(folder)).toBe(temporary)
  expect([folder, dirname(copy), copy].map(modeOf)).toEqual([0o700, 0o700, 0o600])
  expect(logged).toEqual([`clustered-server was deleted or replaced: until a restart, workers use a copy in ${folder}`])
  code.close()
  expect(existsSync(folder)).toBe(false)
})

it('is another copy where a file was deleted, as by a cleaner of temporary files', () => {
  rmSync(root, { recursive: true })
  const first = entry()
  rmSync(join(dirname(first), 'heartbeat.ts'))
  const second = entry()
  expect(second).not.toBe(first)
  expect([existsSync(first), existsSync(second)]).toEqual([false, true])
})

it('is another copy where the folder is no longer private', () => {
  rmSync(root, { recursive: true })
  const first = entry()
  chmodSync(dirname(dirname(first)), 0o755)
  expect(entry()).not.toBe(first)
})

it.each([
  [
    'others may rename its folders',
    () => chmodSync(temporary, 0o777),
    'lets other users replace its folders: set TMPDIR to a directory of your own',
  ],
  ['it does not exist', () => rmSync(temporary, { recursive: true }), 'ENOENT'],
])('is not copied to a directory for temporary files where %s', (_, change, reason) => {
  rmSync(root, { recursive: true })
  change()
  expect(entry()).toBe(join(root, 'worker/entry.ts'))
  expect(logged).toEqual([
    expect.stringContaining('clustered-server was deleted or replaced, and workers have no copy of it: '),
  ])
  expect(logged[0]).toContain(reason)
  mkdirSync(temporary, { recursive: true })
})

it('may be copied to a directory like /tmp, where others can rename only their own folders', () => {
  rmSync(root, { recursive: true })
  chmodSync(temporary, 0o1777)
  expect(dirname(dirname(dirname(entry())))).toBe(temporary)
})

it('writes modules that import only each other and those of Node', () => {
  rmSync(root, { recursive: true })
  const folder = dirname(dirname(entry()))
  const modules = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  const imported = modules.flatMap((path) => {
    const text = readFileSync(join(folder, path), 'utf8')
    const names = [...text.matchAll(/^(?:import|export)\b(?! type\b)[^'"]*? from '([^']+)'/gm)].map(([, name]) => name!)
    return names.map((name) => ({ name, file: join(folder, dirname(path), name) }))
  })
  expect(imported.length).toBeGreaterThan(100)
  const isThere = ({ name, file }: (typeof imported)[number]): boolean => name.startsWith('node:') || existsSync(file)
  expect(imported.filter((one) => !isThere(one)).map(({ name }) => name)).toEqual([])
})

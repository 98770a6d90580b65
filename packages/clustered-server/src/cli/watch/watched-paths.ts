import { extname, relative, sep } from 'node:path'

/** Which files of a directory make a reload. */
export interface WatchedFiles {
  /** Absolute paths of directories and files. */
  readonly paths: readonly string[]
  /** Names or paths, relative to `root`, with `*` and `**`. */
  readonly ignore: readonly string[]
  /** Whether other files than code and JSON count. */
  readonly allFiles: boolean
  /** Directory to which `ignore` is relative. */
  readonly root: string
  /** Files that count in any case, such as `.env`. */
  readonly always: readonly string[]
}

/** Extensions of code. An app may write others itself, such as logs, and would reload forever. */
const CODE = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.json']
const IGNORED = ['node_modules', '.*']

/** Whether a path is watched: a directory, or a file whose change makes a reload. */
export function isWatched(path: string, isDirectory: boolean, watched: WatchedFiles): boolean {
  if (watched.always.includes(path)) return true
  const inRoot = relative(watched.root, path).split(sep).join('/')
  const names = inRoot.split('/').filter((name) => name !== '..')
  const patterns = [...IGNORED, ...watched.ignore].map((pattern) => expressionOf(pattern))
  const parents = names.map((_, index) => names.slice(0, index + 1).join('/'))
  if (patterns.some((pattern) => [...names, ...parents].some((one) => pattern.test(one)))) return false
  return isDirectory || watched.allFiles || CODE.includes(extname(path))
}

/** The `outDir` in the text of a `tsconfig.json`, which may have comments, so that it is no JSON. */
export function outDirIn(text: string): string | undefined {
  return /(?:^|[{,])[ \t]*"outDir"[ \t]*:[ \t]*"([^"\n]+)"/m.exec(text)?.[1]
}

function expressionOf(pattern: string): RegExp {
  const plain = pattern.replace(/^\.\//, '').replace(/\/(?:\*\*)?$/, '')
  const text = plain.split(/(\*\*\/?|\*|\?)/).map((part) => {
    if (part.startsWith('**')) return '.*'
    if (part === '*') return '[^/]*'
    return part === '?' ? '[^/]' : part.replaceAll(/[\\^$.+()[\]{}|]/g, String.raw`\$&`)
  })
  return new RegExp(`^${text.join('')}$`)
}

import { existsSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorCodes } from '../errors.ts'
import { assertOption } from '../options/check.ts'
import type { CommandSubject, FileSubject, Subject } from '../options/types.ts'

/** Where the configuration stands, and its working directory. Both are absolute. */
export interface Place {
  readonly repository: string
  readonly cwd: string
}

/** The same subject in a checkout of its repository. */
export function subjectAt(name: string, subject: Subject, { repository, cwd }: Place, checkout: string): Subject {
  const at = (path: string): string => {
    const inside = relative(repository, path)
    const isInside = !inside.startsWith('..') && !isAbsolute(inside)
    // Both refs would run the same file, and the result would always be "no difference".
    assertOption(isInside, `subjects.${name}`, 'a path inside the repository', path)
    return join(checkout, inside)
  }
  if (typeof subject === 'string' || subject instanceof URL) {
    return subjectAt(name, { file: subject }, { repository, cwd }, checkout)
  }
  assertRelative(name, subject, repository)
  const directory = resolve(cwd, subject.cwd ?? '.')
  if (!('file' in subject)) return { ...subject, cwd: at(directory) }
  const { file } = subject
  return {
    ...subject,
    file: at(typeof file === 'string' ? resolve(directory, file) : fileURLToPath(file)),
    cwd: at(directory),
  }
}

/** An absolute path in an argument would name the same file for both refs. */
function assertRelative(name: string, subject: FileSubject | CommandSubject, repository: string): void {
  const words = 'command' in subject ? subject.command : [...(subject.args ?? []), ...(subject.nodeArgs ?? [])]
  const texts = [...words, ...Object.values(subject.env ?? {})]
  const absolute = texts.find((text) => text === repository || text.includes(repository + sep))
  assertOption(absolute === undefined, `subjects.${name}`, 'relative paths within the repository', absolute)
}

/** Fails if a ref does not have the program of a subject. */
export function assertExists(
  name: string,
  sides: readonly { readonly ref: string; readonly subject: Subject; readonly checkout: string }[],
): void {
  const missing = sides.filter(({ subject }) => {
    const path = programOf(subject)
    return path !== undefined && !existsSync(path)
  })
  if (missing.length === 0) return
  const [{ subject, checkout, ref }] = missing as [(typeof sides)[number]]
  const path = relative(checkout, programOf(subject)!)
  const where = missing.length === sides.length ? `in neither ref` : `in one ref only, not in ${ref}`
  throw new errorCodes.SPEED_BOUNDS_SUBJECT_MISSING(
    `${path} of subject "${name}" exists ${where}: commit it to both refs, or choose other subjects by --subject.`,
  )
}

/** The file that a subject runs. Undefined for a program on PATH. */
function programOf(subject: Subject): string | undefined {
  const { file, command, cwd } = subject as Partial<FileSubject & CommandSubject>
  if (typeof file === 'string') return file
  const [program = ''] = command ?? []
  return program.startsWith('.') ? resolve(cwd ?? '.', program) : undefined
}

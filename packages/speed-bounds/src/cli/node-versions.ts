import { InvalidArgumentError } from 'commander'
import { errorCodes } from '../errors.ts'
import type { FileSubject, Subject } from '../options/types.ts'
import { installNode } from '../platform/node-binary.ts'

/** `22,24.1` as a list. */
export function nodeVersions(text: string): string[] {
  const versions = text.split(',').map((version) => version.trim())
  if (!versions.every((version) => /^\d+(?:\.\d+){0,2}$/.test(version))) {
    throw new InvalidArgumentError('Expected versions of Node, such as 22,24 or 22.19.0.')
  }
  return [...new Set(versions)]
}

/** Each script on each version of Node, under names such as `server@node-22.19.0`. */
export async function onVersions(
  subjects: Readonly<Record<string, Subject>>,
  versions: readonly string[],
  onStep: (text: string) => void,
): Promise<Record<string, Subject>> {
  const files = Object.entries(subjects).map(([name, subject]) => ({ name, subject: fileSubjectOf(name, subject) }))
  const raced: [string, Subject][] = []
  for (const version of versions) {
    onStep(`Node ${version}: looking for it`)
    const { version: exact, path } = await installNode(version)
    raced.push(
      ...files.map(({ name, subject }): [string, Subject] => [`${name}@node-${exact}`, { ...subject, execPath: path }]),
    )
  }
  return Object.fromEntries(raced)
}

function fileSubjectOf(name: string, subject: Subject): FileSubject {
  if (typeof subject === 'string' || subject instanceof URL) return { file: subject }
  if ('file' in subject) return subject
  throw new errorCodes.SPEED_BOUNDS_INVALID_OPTION(
    `Invalid subject "${name}": expected a script with --node, got the command line "${subject.command.join(' ')}".`,
  )
}

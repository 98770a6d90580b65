import { basename, isAbsolute, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { demand, optional, onlyKeys, isText, isRecord, isLocalFile, isTexts, isTextList, isProgram } from './check.ts'
import type { ResolvedSubject } from './resolved.ts'
import type { Subject } from './types.ts'

const FILE_KEYS = ['file', 'args', 'nodeArgs', 'env', 'cwd']
const COMMAND_KEYS = ['command', 'env', 'cwd']

export function resolveSubject(name: string, subject: Subject | undefined, cwd: string): ResolvedSubject {
  const at = `subjects.${name}`
  if (isText(subject) || subject instanceof URL) return resolveSubject(name, { file: subject }, cwd)
  const expected = 'a path, a file URL, { file } or { command }'
  demand(isRecord(subject), at, expected, subject)
  const directory = resolve(cwd, optional(subject.cwd, `${at}.cwd`, isText, 'a path') ?? '.')
  const env = optional(subject.env, `${at}.env`, isTexts, 'an object of strings') ?? {}
  if ('command' in subject) {
    onlyKeys(at, subject, COMMAND_KEYS)
    const { command } = subject
    demand(isProgram(command), `${at}.command`, 'an array: the program and its arguments', command)
    return { name, command, file: undefined, env, cwd: directory, label: command.join(' ') }
  }
  demand('file' in subject, at, expected, subject)
  onlyKeys(at, subject, FILE_KEYS)
  const { file } = subject
  demand(isText(file) || isLocalFile(file), `${at}.file`, 'a path or a file URL', file)
  const args = optional(subject.args, `${at}.args`, isTextList, 'an array of strings') ?? []
  const nodeArgs = optional(subject.nodeArgs, `${at}.nodeArgs`, isTextList, 'an array of strings') ?? []
  const path = isText(file) ? resolve(directory, file) : fileURLToPath(file)
  const shown = relative(cwd, path)
  return {
    name,
    command: [process.execPath, ...nodeArgs, path, ...args],
    file: path,
    env,
    cwd: directory,
    label: ['node', ...nodeArgs, isAbsolute(shown) || shown.startsWith('..') ? basename(path) : shown, ...args].join(
      ' ',
    ),
  }
}

import { custom } from 'checked-options'
import { basename, isAbsolute, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkWithin } from './check.ts'
import type { ResolvedSubject } from './resolved.ts'
import { commandSubjectSchema, fileSubjectSchema } from './schema.ts'
import type { Subject } from './types.ts'

const kinds = custom<object>(
  'a path, a file URL, or an object with "file" or "command"',
  (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && ('file' in value || 'command' in value),
)

export function resolveSubject(name: string, subject: Subject | undefined, cwd: string): ResolvedSubject {
  if ((typeof subject === 'string' && subject !== '') || subject instanceof URL) {
    return resolveFile(name, { file: subject }, cwd)
  }
  const given = checkWithin('subjects', name, kinds, subject)
  return 'command' in given ? resolveCommand(name, given, cwd) : resolveFile(name, given, cwd)
}

function resolveCommand(name: string, given: object, cwd: string): ResolvedSubject {
  const { command, env, cwd: directory = '.' } = checkWithin('subjects', name, commandSubjectSchema, given)
  return { name, command, file: undefined, env, cwd: resolve(cwd, directory), label: command.join(' ') }
}

function resolveFile(name: string, given: object, cwd: string): ResolvedSubject {
  const subject = checkWithin('subjects', name, fileSubjectSchema, given)
  const { file, args, nodeArgs, execPath = process.execPath, env } = subject
  const directory = resolve(cwd, subject.cwd ?? '.')
  const path = typeof file === 'string' ? resolve(directory, file) : fileURLToPath(file)
  return {
    name,
    command: [execPath, ...nodeArgs, path, ...args],
    file: path,
    env,
    cwd: directory,
    label: ['node', ...nodeArgs, shortPath(path, cwd), ...args].join(' '),
  }
}

/** The path within a directory, or the name of the file if it is elsewhere. */
function shortPath(path: string, directory: string): string {
  const inside = relative(directory, path)
  return isAbsolute(inside) || inside.startsWith('..') ? basename(path) : inside
}

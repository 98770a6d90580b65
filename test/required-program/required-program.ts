// Programs that tests need and that no npm package brings, such as haproxy.

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where servers are that PATH has for root only. */
const FOR_ROOT = ['/usr/local/sbin', '/usr/sbin', '/sbin']

/**
 * Whether a program is there. Where it is not, the tests that need it are skipped, after one line that says so; where `CI`
 * is set, they fail with that line instead. A program in /usr/sbin is put on PATH for all that the tests start.
 *
 * @param program its name, or several of which one is enough
 * @param debianPackage what brings it
 * @throws {Error} where `CI` is set and the program is missing
 *
 * @example
 * describe.runIf(requireProgram('haproxy', 'haproxy'))('behind HAProxy', () => {})
 */
export function requireProgram(program: string | readonly string[], debianPackage: string): boolean {
  if (foundProgram(program)) return true
  const names = typeof program === 'string' ? program : program.join(' or ')
  const line = `needs ${names}: apt-get install ${debianPackage}`
  if (process.env['CI']) throw new Error(line)
  process.stderr.write(`${line}\n`)
  return false
}

/** The first of some programs that is there. */
export function foundProgram(program: string | readonly string[]): string | undefined {
  const path = process.env['PATH']?.split(delimiter) ?? []
  for (const name of [program].flat()) {
    const folder = [...path, ...FOR_ROOT].find((one) => isExecutable(join(one, name)))
    if (folder === undefined) continue
    if (!path.includes(folder)) process.env['PATH'] = [...path, folder].join(delimiter)
    return name
  }
  return undefined
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

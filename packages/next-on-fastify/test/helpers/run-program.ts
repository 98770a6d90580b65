import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url))

/** Runs the source of a module in a process of its own. It rejects unless the process exits with 0. */
export function runProgram(source: string): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], { cwd: PACKAGE })
}

// This module imports nothing: it must load in versions of Node that are too old for the others.

/** The exit code of a command on a version of Node that is too old. */
const EXIT_CODE = 2

/**
 * Runs a command, or prints in one line that this Node is too old for it and sets the exit code to 2. A command checks that
 * before it imports anything else: an old Node fails to link modules whose imports it does not have, with a `SyntaxError`.
 *
 * @param command - its name
 * @param required - the oldest version that runs it, such as `22.19`
 * @param run - imports the program
 *
 * @example
 * await runOnNode('my-command', '22.19', () => import('./program.js'))
 */
export async function runOnNode(command: string, required: string, run: () => Promise<unknown>): Promise<void> {
  const error = nodeVersionError(command, required)
  if (error === undefined) return void (await run())
  console.error(error)
  process.exitCode = EXIT_CODE
}

/**
 * The line that `runOnNode()` prints.
 *
 * @param version - by default that of this process
 * @returns undefined for a version that runs the command
 */
export function nodeVersionError(
  command: string,
  required: string,
  version: string = process.versions.node,
): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [requiredMajor = 0, requiredMinor = 0] = required.split('.').map(Number)
  if (major > requiredMajor || (major === requiredMajor && minor >= requiredMinor)) return undefined
  return `${command} needs Node ${required} or newer, got ${version}: update Node.`
}

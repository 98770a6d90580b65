// This module imports nothing: it must load in versions of Node that are too old for the others.

/**
 * Tells in one line that this Node is too old for a command. A command checks that before it imports anything else: an old
 * Node fails to link modules whose imports it does not have, with a `SyntaxError`.
 *
 * @param command - its name
 * @param required - the oldest version that runs it, such as `22.19`
 * @param version - by default that of this process
 * @returns undefined for a version that runs the command
 *
 * @example
 * const error = nodeVersionError('my-command', '22.19')
 * if (error === undefined) await import('./program.js')
 * else {
 *   console.error(error)
 *   process.exitCode = 2
 * }
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

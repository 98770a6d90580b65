// This module imports nothing: it must load in versions of Node that are too old for the others.

/** The same as `engines` in package.json. */
export const REQUIRED_NODE = '22.19'

/** Undefined for a version that runs the command. */
export function versionError(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [requiredMajor = 0, requiredMinor = 0] = REQUIRED_NODE.split('.').map(Number)
  if (major > requiredMajor || (major === requiredMajor && minor >= requiredMinor)) return undefined
  return `speed-bounds needs Node ${REQUIRED_NODE} or newer, got ${version}: update Node.`
}

/** This process's environment without the variables that a test runner sets for its workers. */
export function ownEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST$|TINYPOOL|NODE_CHANNEL_)/.test(name))
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

// The end of an error of the command line: the command that explains it. The action leaves it out of its annotations.

const hintOf = (command: string): string => ` See ${command} --help.`

/** An error of a command's arguments as one sentence, with its hint. */
export function withHelpHint(error: string, command: string): string {
  const [first = '', ...others] = error.trimEnd().split('\n')
  return `${[first.replace(/\.$/, ''), ...others].join(' ')}.${hintOf(command)}`
}

/** The same error without its hint. */
export function withoutHelpHint(error: string, command: string): string {
  const hint = hintOf(command)
  return error.endsWith(hint) ? error.slice(0, -hint.length) : error
}

import { command } from '../../control/control-client.ts'
import { counted } from '../../observability/counted.ts'
import { helpText } from '../help.ts'
import { print } from '../print.ts'
import { selectService, titleOf } from '../services/select-service.ts'
import { serviceArguments } from '../services/service-arguments.ts'
import { UsageError } from '../usage-error.ts'

/** `clustered-server scale`: sets the number of workers. */
export async function scale(args: readonly string[]): Promise<void> {
  // `-1` is no flag.
  const isLess = (text: string): boolean => /^-\d+$/.test(text)
  const { positionals, help } = serviceArguments(
    'scale',
    args.filter((text) => !isLess(text)),
    2,
  )
  if (help) return print(helpText('scale'))
  const words = [...positionals, ...args.filter(isLess)]
  const count = words.pop()
  if (count === undefined || words.length > 1 || !/^[+-]?\d+$/.test(count))
    throw new UsageError(
      `expected a number of workers as in 4, +1 or -1, got ${count ?? 'none'}: see clustered-server scale --help`,
    )
  const selected = await selectService(words[0])
  const title = titleOf(selected)
  if (selected.socket === undefined)
    throw new Error(`${title} has no control socket: set the option "name", or send SIGTTIN or SIGTTOU to it`)
  const after = await command(selected, `/scale?workers=${encodeURIComponent(count)}`)
  print(`${title} runs ${after ? counted(after.size, 'worker') : 'another number of workers'}\n`)
}

// The generator's own process. It runs the workloads of a race, and ends with the channel to it.

import { runWorkload as runAutocannon } from './autocannon/run-workload.ts'
import type { GeneratorCommand, GeneratorMessage, RunWorkload, TurnControl } from './generator.ts'
import { endWrk, runWorkload as runWrk } from './wrk.ts'

const run: RunWorkload = process.argv[2] === 'wrk' ? runWrk : runAutocannon

// The race may be over, and its end of the channel closed.
const send = (message: GeneratorMessage): void => void process.send?.(message, undefined, undefined, () => {})
/** Controls of the workloads in turns. */
const ready = new Map<number, Promise<TurnControl>>()

process.on('message', (command: GeneratorCommand) => {
  const { id } = command
  const failed = ({ message }: Error): void => send({ id, error: message })
  if ('workload' in command) {
    const { promise, resolve } = Promise.withResolvers<TurnControl>()
    ready.set(id, promise)
    run(command.workload, { onBegin: () => send({ id, begun: true }), onReady: resolve })
      .then((ok) => send({ id, ok }), failed)
      .finally(() => ready.delete(id))
    return
  }
  void ready.get(id)?.then((turns) => {
    if ('finish' in command) return turns.finish()
    if ('collect' in command) return turns.collect().then((collected) => send({ id, collected }), failed)
    const { duration, counts } = command.turn
    return turns.turn(duration, counts).then((turn) => send({ id, turn }), failed)
  })
})
process.once('disconnect', () => {
  endWrk()
  process.exit()
})

// The generator's own process: it fires the volleys that it is told to, and ends with its channel.

import type { FromGenerator, Generate, ToGenerator, Turns } from './generator.ts'
import { generate as autocannon } from './autocannon.ts'
import { endWrk, generate as wrk } from './wrk.ts'

const generate: Generate = process.argv[2] === 'wrk' ? wrk : autocannon

const tell = (message: FromGenerator): void => void process.send?.(message)
/** Of the volleys that are fired in turns. */
const ready = new Map<number, Promise<Turns>>()

process.on('message', (order: ToGenerator) => {
  const { id } = order
  const failed = ({ message }: Error): void => tell({ id, error: message })
  if ('volley' in order) {
    const { promise, resolve } = Promise.withResolvers<Turns>()
    ready.set(id, promise)
    generate(order.volley, { onBegin: () => tell({ id, begun: true }), onReady: resolve })
      .then((ok) => tell({ id, ok }), failed)
      .finally(() => ready.delete(id))
    return
  }
  void ready.get(id)?.then((turns) => {
    if ('finish' in order) return turns.finish()
    const { duration, counts } = order.turn
    return turns.turn(duration, counts).then((turn) => tell({ id, turn }), failed)
  })
})
process.once('disconnect', () => {
  endWrk()
  process.exit()
})

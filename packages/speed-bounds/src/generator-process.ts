// The generator's own process: it fires one volley per message and ends with its channel.

import type { FromGenerator, Generate, Volley } from './generator.ts'
import { generate as autocannon } from './generators/autocannon.ts'
import { endWrk, generate as wrk } from './generators/wrk.ts'

const generate: Generate = process.argv[2] === 'wrk' ? wrk : autocannon

const tell = (message: FromGenerator): void => void process.send?.(message)

process.on('message', (volley: Volley) => {
  generate(volley, () => tell({ begun: true })).then(
    (ok) => tell({ ok }),
    (error: Error) => tell({ error: error.message }),
  )
})
process.once('disconnect', () => {
  endWrk()
  process.exit()
})

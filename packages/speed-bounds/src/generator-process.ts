// The generator's own process: it fires one volley per message and ends with its channel.

import type { Generate, Volley } from './generator.ts'
import { generate as autocannon } from './generators/autocannon.ts'
import { endWrk, generate as wrk } from './generators/wrk.ts'

const generate: Generate = process.argv[2] === 'wrk' ? wrk : autocannon

process.on('message', (volley: Volley) => {
  generate(volley).then(
    (ok) => process.send?.({ ok }),
    (error: Error) => process.send?.({ error: error.message }),
  )
})
process.once('disconnect', () => {
  endWrk()
  process.exit()
})

import { createServer, type Server } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Works for 20 ms for each answer, a little in each turn of the event loop, as what renders does. */
export default function alwaysBusy(): Server {
  return createServer(async (_request, response) => {
    for (let step = 0; step < 10; step++) {
      const end = performance.now() + 2
      while (performance.now() < end);
      await nextTurn()
    }
    response.end()
  })
}

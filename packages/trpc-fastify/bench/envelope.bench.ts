import { initTRPC, transformTRPCResponse } from '@trpc/server'
import { envelopeOf } from '../src/response/envelope.ts'
import { internalsOf } from '../src/procedure/trpc-internals.ts'

const { config } = internalsOf(initTRPC.create().router({}))
const responses = {
  'a small result': { result: { data: { hello: 'world' } } },
  'a result of 10 KB': { result: { data: { lines: Array.from({ length: 100 }, () => 'x'.repeat(100)) } } },
  'an error': { error: { message: 'No', code: -32_603, data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 } } },
}

/** The envelope of a response as JSON. */
export default Object.fromEntries(
  Object.entries(responses).map(([name, response]) => [
    name,
    {
      'by spreading': () => JSON.stringify(envelopeOf(config, response)),
      "by tRPC's own code": () => JSON.stringify(transformTRPCResponse(config as never, response as never)),
    },
  ]),
)

import { expect, it } from 'vitest'
import { errorCodes } from '../../../src/index.ts'
import { gateway } from '../../helpers/servers.ts'

it.each(Object.entries(errorCodes))('%s is the code of its error', (code, ErrorOfCode) => {
  const create = ErrorOfCode as new (message: string) => Error
  expect(new create('why')).toMatchObject({ code })
})

it('errorCodes has the class of a thrown error', async () => {
  const error = await gateway({ upstreams: {}, endpoints: [{}] } as never).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(errorCodes.AGGREGATOR_GATEWAY_INVALID_OPTION)
})

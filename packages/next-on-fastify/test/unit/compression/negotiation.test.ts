import { expect, it } from 'vitest'
import { negotiation } from '../../../src/compression/negotiation.ts'

const negotiate = negotiation(['zstd', 'br', 'gzip', 'deflate'])

it.each([
  [undefined, undefined],
  ['', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate', 'gzip'],
  ['deflate', 'deflate'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['GZIP , Br', 'br'],
  ['br;q=0.5, gzip', 'gzip'],
  ['br;q=0.8, gzip;q=0.5', 'br'],
  ['br;q=0, gzip;q=0.001', 'gzip'],
  ['zstd;q=0, br;q=0', undefined],
  ['*', 'zstd'],
  ['*;q=0', undefined],
  ['*;q=0, gzip', 'gzip'],
  ['gzip;q=0.5, *;q=0.1', 'gzip'],
  ['zstd;q=0, *', 'br'],
  ['gzip, *;q=0.5', 'gzip'],
  ['identity', undefined],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['identity, gzip', 'gzip'],
  ['identity;q=0', undefined],
  ['identity;q=0, *', 'zstd'],
  ['identity;q=0, br', 'br'],
  ['compress, x-unknown', undefined],
  ['br;q=high, gzip', 'gzip'],
  ['br;q=, gzip', 'gzip'],
  ['br;q=2, gzip', 'gzip'],
  ['br;q=-1, gzip', 'gzip'],
  ['br;level=9;q=0.5, gzip;q=0.6', 'gzip'],
  [',,;q=1,', undefined],
])('%j gets %s', (accepted, encoding) => {
  // The second time from its cache.
  expect([negotiate(accepted), negotiate(accepted)]).toEqual([encoding, encoding])
})

it('reads a header of any length, and stores none of the long ones', () => {
  const long = `${'x,'.repeat(5000)}br`
  expect([negotiate(long), negotiate(`${long};q=0`)]).toEqual(['br', undefined])
})

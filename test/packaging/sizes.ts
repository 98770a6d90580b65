// Sizes of the tarballs that users download and unpack.

import { markdownTable } from 'markdown-table'

/** Sizes in bytes. */
export interface Size {
  readonly packed: number
  readonly unpacked: number
}

/** A tarball may be this much larger than its recorded size. */
const MAX_GROWTH = 1.1

/** Recorded sizes. If a package grows on purpose, copy its new sizes from the failure of `release.test.ts`. */
const SIZES: Readonly<Record<string, Size>> = {
  'aggregator-gateway': { packed: 117_649, unpacked: 409_179 },
  'checked-options': { packed: 13_951, unpacked: 42_451 },
  'clustered-server': { packed: 146_537, unpacked: 477_072 },
  'fastify-write-batching': { packed: 8_954, unpacked: 28_633 },
  'next-on-fastify': { packed: 133_677, unpacked: 442_509 },
  'speed-bounds': { packed: 217_930, unpacked: 700_800 },
  'trpc-fastify': { packed: 69_041, unpacked: 230_626 },
}

/** Packages that have no recorded size, or have grown too much. */
export function tooLarge(sizes: Readonly<Record<string, Size>>, recorded = SIZES): string[] {
  return Object.entries(sizes)
    .filter(([name, { packed, unpacked }]) => {
      const before = recorded[name]
      return !before || packed > before.packed * MAX_GROWTH || unpacked > before.unpacked * MAX_GROWTH
    })
    .map(([name]) => name)
}

/** A table of all sizes beside the recorded ones, in bytes, as a source would have them. */
export function sizeTable(sizes: Readonly<Record<string, Size>>, recorded = SIZES): string {
  const rows = Object.entries(sizes).map(([name, { packed, unpacked }]) => {
    const before = recorded[name]
    return [name, ...[packed, before?.packed, unpacked, before?.unpacked].map(grouped)]
  })
  return markdownTable([['package', 'packed', 'recorded', 'unpacked', 'recorded'], ...rows], {
    align: ['l', 'r', 'r', 'r', 'r'],
  })
}

const grouped = (bytes: number | undefined): string => bytes?.toLocaleString('en-US').replaceAll(',', '_') ?? '-'

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
  'aggregator-gateway': { packed: 85_610, unpacked: 298_249 },
  'checked-options': { packed: 7_579, unpacked: 23_638 },
  'clustered-server': { packed: 86_082, unpacked: 296_269 },
  'next-on-fastify': { packed: 98_394, unpacked: 324_541 },
  'speed-bounds': { packed: 68_768, unpacked: 234_720 },
  'trpc-fastify': { packed: 55_187, unpacked: 183_773 },
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

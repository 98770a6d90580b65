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
  'aggregator-gateway': { packed: 112_454, unpacked: 393_387 },
  'checked-options': { packed: 10_300, unpacked: 33_800 },
  'clustered-server': { packed: 144_417, unpacked: 471_373 },
  'fastify-write-batching': { packed: 7_907, unpacked: 24_466 },
  'next-on-fastify': { packed: 112_640, unpacked: 369_971 },
  'speed-bounds': { packed: 135_099, unpacked: 419_940 },
  'trpc-fastify': { packed: 67_388, unpacked: 224_865 },
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

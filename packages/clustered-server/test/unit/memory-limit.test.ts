import { totalmem } from 'node:os'
import { describe, expect, it } from 'vitest'
import { heapArguments, memoryLimit } from '../../src/platform/memory-limit.ts'
import { fileTree } from '../helpers/file-tree.ts'

const MEBIBYTE = 2 ** 20
const UNIFIED = {
  'proc/self/cgroup': '0::/a/b\n',
  'proc/self/mountinfo': '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n',
}
const SPLIT = {
  'proc/self/cgroup': '5:memory:/a/b\n4:cpu:/c\n',
  'proc/self/mountinfo': '30 23 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n',
}
const inner = 'sys/fs/cgroup/a/b/memory.max'
const outer = 'sys/fs/cgroup/a/memory.max'
const limited = (mebibytes: number): string =>
  fileTree({ ...UNIFIED, [inner]: `${mebibytes * MEBIBYTE}\n`, [outer]: 'max\n' })

describe('memoryLimit', () => {
  it.each<[string, Readonly<Record<string, string>>, number | undefined]>([
    ['no file', UNIFIED, undefined],
    ['no control groups', {}, undefined],
    ['max', { ...UNIFIED, [inner]: 'max\n' }, undefined],
    ['a limit', { ...UNIFIED, [inner]: '536870912\n' }, 536_870_912],
    ['an outer group that is tighter', { ...UNIFIED, [inner]: '536870912\n', [outer]: '268435456\n' }, 268_435_456],
    ['an inner group that is tighter', { ...UNIFIED, [inner]: '268435456\n', [outer]: '536870912\n' }, 268_435_456],
    ['more than the machine has', { ...UNIFIED, [inner]: `${totalmem() + 1}\n` }, undefined],
    [
      'none of version 1',
      { ...SPLIT, 'sys/fs/cgroup/memory/a/b/memory.limit_in_bytes': '9223372036854771712\n' },
      undefined,
    ],
    [
      'one of version 1',
      {
        ...SPLIT,
        'sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
        'sys/fs/cgroup/memory/a/memory.limit_in_bytes': '134217728\n',
        'sys/fs/cgroup/memory/a/b/memory.limit_in_bytes': '268435456\n',
      },
      134_217_728,
    ],
    ...['', '0', '-1', 'x', '1.5', '12 13', '\0', '9'.repeat(400)].map(
      (text): [string, Readonly<Record<string, string>>, undefined] => [
        `nonsense: ${JSON.stringify(text.slice(0, 20))}`,
        { ...UNIFIED, [inner]: text },
        undefined,
      ],
    ),
  ])('%s', (_title, files, limit) => {
    expect(memoryLimit(fileTree(files))).toBe(limit)
  })
})

describe('heapArguments', () => {
  it('gives each worker three quarters of its share of the rest', () => {
    // (1024 - 64) / 3 = 320
    expect(heapArguments(2, [], undefined, limited(1024))).toEqual(['--max-old-space-size=240'])
    expect(heapArguments(4, [], undefined, limited(1024))).toEqual(['--max-old-space-size=144'])
  })

  it.each([
    [2, 512],
    [3, 512],
    [4, 1000],
    [8, 2048],
    [64, 16_384],
  ])('%i workers and one more stay within %i MB', (workers, limit) => {
    const [argument] = heapArguments(workers, [], undefined, limited(limit))
    const heap = Number(argument!.split('=')[1])
    expect(heap).toBeGreaterThan(64)
    expect(heap * (workers + 1) + 64).toBeLessThan(limit)
  })

  it('gives at least 64 MB', () => {
    expect(heapArguments(8, [], undefined, limited(128))).toEqual(['--max-old-space-size=64'])
    expect(heapArguments(2, [], undefined, limited(16))).toEqual(['--max-old-space-size=64'])
  })

  it('sets nothing above the default of V8', () => {
    const root = limited(Math.floor(totalmem() / MEBIBYTE) - 1)
    expect(memoryLimit(root)).toBeGreaterThan(0)
    // Its own is a quarter of the memory, or less.
    expect(heapArguments(1, [], undefined, root)).toEqual([])
  })

  it('never recycles without a limit', () => {
    expect(heapArguments(2, [], undefined, fileTree(UNIFIED))).toEqual([])
  })

  it.each([
    [['--max-old-space-size=100'], undefined],
    [['--max_old_space_size=100'], undefined],
    [['--enable-source-maps', '--max-old-space-size', '100'], undefined],
    [['--max-old-space-size-percentage=50'], undefined],
    [['--max-heap-size=100'], undefined],
    [[], '--max-old-space-size=100'],
    [[], '--enable-source-maps --max_old_space_size=100'],
  ])('nothing when %j and NODE_OPTIONS %j say it', (execArgv, nodeOptions) => {
    const root = limited(1024)
    expect(heapArguments(2, execArgv, nodeOptions, root)).toEqual([])
    // Anything else says nothing of it.
    expect(heapArguments(2, ['--enable-source-maps'], '--max-semi-space-size=4', root)).toHaveLength(1)
  })
})

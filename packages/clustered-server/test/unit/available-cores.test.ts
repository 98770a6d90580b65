import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { availableCores } from '../../src/index.ts'
import { fileTree } from '../helpers/file-tree.ts'

/** A machine of 8 cores, as Linux tells of it. */
const MACHINE = {
  'proc/self/status': 'Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\nMems_allowed_list:\t0\n',
  'sys/devices/system/cpu/online': '0-7\n',
}
/** Its control groups are all of version 2, and this process is in /a/b. */
const UNIFIED = {
  ...MACHINE,
  'proc/self/cgroup': '0::/a/b\n',
  'proc/self/mountinfo':
    '22 1 0:20 / /proc rw - proc proc rw\n30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n',
}
/** Its control groups are of version 1, and this process is in /a/b. */
const SPLIT = {
  ...MACHINE,
  'proc/self/cgroup': '9:name=systemd:/\n4:cpu,cpuacct:/a/b\n3:cpuset:/other\n',
  'proc/self/mountinfo': `\
31 23 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755
32 31 0:29 / /sys/fs/cgroup/systemd rw shared:9 - cgroup cgroup rw,xattr,name=systemd
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 master:2 - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
`,
}
const quota = (directory: string, microseconds: number | string, period: number | string = 100_000): object => ({
  [`sys/fs/cgroup/cpu,cpuacct/${directory}cpu.cfs_quota_us`]: `${microseconds}\n`,
  [`sys/fs/cgroup/cpu,cpuacct/${directory}cpu.cfs_period_us`]: `${period}\n`,
})

const MACHINES: readonly [title: string, files: Readonly<Record<string, string>>, cores: number][] = [
  ['no quota in any file', UNIFIED, 8],
  ['a quota of max', { ...UNIFIED, 'sys/fs/cgroup/a/b/cpu.max': 'max 100000\n' }, 8],
  ['a quarter of a core', { ...UNIFIED, 'sys/fs/cgroup/a/b/cpu.max': '25000 100000\n' }, 1],
  ['one core and a half', { ...UNIFIED, 'sys/fs/cgroup/a/b/cpu.max': '150000 100000\n' }, 1],
  ['two cores', { ...UNIFIED, 'sys/fs/cgroup/a/b/cpu.max': '200000 100000\n' }, 2],
  ['almost three cores, of another period', { ...UNIFIED, 'sys/fs/cgroup/a/b/cpu.max': '29900 10000\n' }, 2],
  ['more cores than there are', { ...UNIFIED, 'sys/fs/cgroup/a/b/cpu.max': '6400000 100000\n' }, 8],
  [
    'an outer group that is tighter',
    { ...UNIFIED, 'sys/fs/cgroup/a/cpu.max': '300000 100000\n', 'sys/fs/cgroup/a/b/cpu.max': '600000 100000\n' },
    3,
  ],
  [
    'an inner group that is tighter',
    { ...UNIFIED, 'sys/fs/cgroup/a/cpu.max': '600000 100000\n', 'sys/fs/cgroup/a/b/cpu.max': '300000 100000\n' },
    3,
  ],
  ['a quota of another group', { ...UNIFIED, 'sys/fs/cgroup/c/cpu.max': '100000 100000\n' }, 8],
  [
    'a container that sees its own group as the topmost one',
    { ...UNIFIED, 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/cpu.max': '200000 100000\n' },
    2,
  ],
  [
    'a container that sees itself outside of what is mounted',
    { ...UNIFIED, 'proc/self/cgroup': '0::/../../x\n', 'sys/fs/cgroup/cpu.max': '200000 100000\n' },
    2,
  ],
  [
    'a container whose group is mounted from inside the tree',
    {
      ...UNIFIED,
      'proc/self/cgroup': '0::/docker/7f/inner\n',
      'proc/self/mountinfo': '30 23 0:26 /docker/7f /sys/fs/cgroup ro - cgroup2 cgroup rw\n',
      'sys/fs/cgroup/cpu.max': '400000 100000\n',
      'sys/fs/cgroup/inner/cpu.max': '500000 100000\n',
      // Would be meant if what is mounted were the top.
      'sys/fs/cgroup/docker/cpu.max': '100000 100000\n',
    },
    4,
  ],
  [
    'a mount of another container beside its own',
    {
      ...UNIFIED,
      'proc/self/cgroup': '0::/docker/7f\n',
      'proc/self/mountinfo': `\
29 23 0:26 /docker/7 /other rw - cgroup2 cgroup rw
30 23 0:26 /docker/7f /sys/fs/cgroup ro - cgroup2 cgroup rw
`,
      'other/cpu.max': '100000 100000\n',
      'sys/fs/cgroup/cpu.max': '500000 100000\n',
    },
    5,
  ],
  [
    'a path with a space',
    {
      ...UNIFIED,
      'proc/self/mountinfo': '30 23 0:26 / /sys/fs/control\\040groups rw - cgroup2 cgroup2 rw\n',
      'sys/fs/control groups/a/cpu.max': '200000 100000\n',
    },
    2,
  ],
  ['no quota of version 1', { ...SPLIT, ...quota('', -1), ...quota('a/', -1), ...quota('a/b/', -1) }, 8],
  ['half a core of version 1', { ...SPLIT, ...quota('a/b/', 50_000) }, 1],
  ['an outer group of version 1 that is tighter', { ...SPLIT, ...quota('a/', 200_000), ...quota('a/b/', -1) }, 2],
  ['an inner group of version 1 that is tighter', { ...SPLIT, ...quota('a/', 700_000), ...quota('a/b/', 350_000) }, 3],
  [
    'a container of version 1 that sees the path of its host',
    {
      ...SPLIT,
      'proc/self/cgroup': '4:cpu,cpuacct:/docker/7f\n',
      'proc/self/mountinfo': '33 31 0:30 /docker/7f /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n',
      ...quota('', 300_000),
    },
    3,
  ],
  [
    'both versions at once',
    {
      ...SPLIT,
      'proc/self/cgroup': `${SPLIT['proc/self/cgroup']}0::/a/b\n`,
      'proc/self/mountinfo': `${SPLIT['proc/self/mountinfo']}35 31 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n`,
      'sys/fs/cgroup/unified/a/b/cpu.stat': 'usage_usec 1\n',
      ...quota('a/b/', 500_000),
    },
    5,
  ],
  ['an affinity of fewer', { ...UNIFIED, 'proc/self/status': 'Cpus_allowed_list:\t1,4-5\n' }, 3],
  [
    'an affinity tighter than the quota',
    { ...UNIFIED, 'proc/self/status': 'Cpus_allowed_list:\t0,7\n', 'sys/fs/cgroup/a/cpu.max': '400000 100000\n' },
    2,
  ],
  ['more cores allowed than are on', { ...UNIFIED, 'proc/self/status': 'Cpus_allowed_list:\t0-127\n' }, 8],
  ['cores that are off', { ...UNIFIED, 'sys/devices/system/cpu/online': '0,2-3\n' }, 3],
]

describe('availableCores', () => {
  it.each(MACHINES)('%s', (_title, files, cores) => {
    expect(availableCores(fileTree(files))).toBe(cores)
  })

  it('falls back to the value of Node', () => {
    expect(availableCores(fileTree({}))).toBe(availableParallelism())
    expect(availableCores('/there/is/no/such/directory')).toBe(availableParallelism())
  })

  const NONSENSE = [
    ...['', '\n', '\0', 'max', '0 0', '100000 0', '0 100000', '-5 100000', 'NaN 1', '1e9 1', '100000', '1 2 3'],
    ...['0x10 0x10', `${'9'.repeat(400)} 1`, `1 ${'9'.repeat(400)}`, 'ÿþ ÿþ', 'x'.repeat(100_000)],
  ]

  it.each(NONSENSE)('ignores the quota %j, and applies a valid one', (text) => {
    const files = { ...UNIFIED, 'sys/fs/cgroup/a/b/cpu.max': text }
    expect(availableCores(fileTree(files))).toBe(8)
    expect(availableCores(fileTree({ ...files, 'sys/fs/cgroup/a/cpu.max': '200000 100000' }))).toBe(2)
  })

  it.each(['', '\0', '0::', '::', '0::a/b', '0:cpu', 'x'.repeat(100_000), '\n\n\n', '4:cpu:'])(
    'a list of groups that is %j is no list',
    (text) => {
      const files = { ...UNIFIED, 'proc/self/cgroup': text, 'sys/fs/cgroup/a/b/cpu.max': '100000 100000' }
      expect(availableCores(fileTree(files))).toBe(8)
    },
  )

  it.each(['', '\0', ' - ', '- cgroup2', '30 23 0:26 - cgroup2 cgroup2 rw', ' '.repeat(1000)])(
    'mounts that are %j are none',
    (text) => {
      const files = { ...UNIFIED, 'proc/self/mountinfo': text, 'sys/fs/cgroup/a/b/cpu.max': '100000 100000' }
      expect(availableCores(fileTree(files))).toBe(8)
    },
  )

  it.each(['', '-', '3-1', 'a-b', '0-', '0,,1', '0-7;rm', '900-999'])('ignores the affinity %j', (list) => {
    const files = { ...UNIFIED, 'proc/self/status': `Cpus_allowed_list:\t${list}\n` }
    expect(availableCores(fileTree(files))).toBe(availableParallelism())
  })

  it('ignores a quota without its period', () => {
    const files = { ...SPLIT, 'sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us': '100000\n', ...quota('a/b/', 200_000) }
    expect(availableCores(fileTree(files))).toBe(2)
  })

  it('ignores a directory in place of a file', () => {
    const files = { ...UNIFIED, 'sys/fs/cgroup/a/b/cpu.max/file': '', 'sys/fs/cgroup/a/cpu.max': '300000 100000' }
    expect(availableCores(fileTree(files))).toBe(3)
  })
})

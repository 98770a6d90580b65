import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { SharedStats, now, writeStats } from '../../src/ipc/shared-stats.ts'

const stats = { connections: 3, requests: 2 ** 40, rss: 1e9, heapUsed: 123_456_789, utilization: 0.25 }

function createFile(): SharedStats {
  const file = SharedStats.create()!
  onTestFinished(() => file.close())
  return file
}

it('reads the statistics of each worker with their time', () => {
  const file = createFile()
  const [one, other] = [file.add()!, file.add()!]
  const before = now()
  writeStats(one, stats)
  writeStats(other, { ...stats, connections: 4 })
  expect(file.read(one)?.stats).toEqual(stats)
  expect(file.read(other)?.stats).toEqual({ ...stats, connections: 4 })
  expect(file.read(one)?.at).toBeGreaterThanOrEqual(before)
  expect(file.read(one)?.at).toBeLessThanOrEqual(file.read(other)!.at)
})

it('a reused slot has no statistics yet', () => {
  const file = createFile()
  const place = file.add()!
  const other = file.add()!
  writeStats(place, stats)
  writeStats(other, stats)
  file.remove(place)
  const next = file.add()!
  expect(next).toEqual(place)
  expect(file.read(next)).toBeUndefined()
  expect(file.read(other)?.stats).toEqual(stats)
})

it('skips statistics during a write', () => {
  const file = createFile()
  const place = file.add()!
  writeStats(place, stats)
  writeSync(place.fd, Float64Array.of(now(), 5), 0, 16, place.position)
  expect(file.read(place)).toBeUndefined()
})

it('reports a failed write', () => {
  const fd = openSync('/dev/full', 'w')
  onTestFinished(() => closeSync(fd))
  expect(writeStats({ fd, position: 0 }, stats)).toBe(false)
})

it('leaves no file name behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stats-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = SharedStats.create([folder])!
  onTestFinished(() => file.close())
  expect(file.add()).toBeDefined()
  expect(readdirSync(folder)).toEqual([])
})

it('uses the first writable folder, or none', () => {
  const second = SharedStats.create(['/proc/nowhere', tmpdir()])
  expect(second?.add()).toBeDefined()
  second?.close()
  expect(SharedStats.create(['/proc/nowhere', '/proc/here'])).toBeUndefined()
})

const canMount =
  spawnSync('unshare', ['--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0

it.runIf(canMount)('returns no slot without free space', () => {
  const source = new URL('../../src/ipc/shared-stats.ts', import.meta.url)
  const script = `import(${JSON.stringify(source)}).then(({ SharedStats }) => console.log(SharedStats.create(['/mnt']).add()))`
  const full = 'mount -t tmpfs -o size=4k none /mnt && head -c 4096 /dev/zero >/mnt/full && exec "$0" --eval "$1"'
  const { stdout } = spawnSync('unshare', ['--map-root-user', '--mount', 'sh', '-c', full, process.execPath, script], {
    encoding: 'utf8',
  })
  expect(stdout).toBe('undefined\n')
})

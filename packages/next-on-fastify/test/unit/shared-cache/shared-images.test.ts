import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMissing, redisServer } from '@test/redis-server'
import type { FastifyBaseLogger } from 'fastify'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ImageValue } from '../../../src/next/image-cache/image-cache-handler.ts'
import { FileEntries } from '../../../src/shared-cache/file-entries.ts'
import { FileLocks } from '../../../src/shared-cache/file-locks.ts'
import { Availability } from '../../../src/shared-cache/outage-log.ts'
import { RedisLocks } from '../../../src/shared-cache/redis-locks.ts'
import { RedisEntries, sendWithTimeout } from '../../../src/shared-cache/redis-store.ts'
import { type ImageStore, SharedImages } from '../../../src/shared-cache/shared-images.ts'
import { LEASE } from '../../../src/shared-cache/store-contract.ts'
import { connectToRedis, type RedisConnection } from '../../helpers/redis-connection.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shared-images-'))
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

interface Process {
  readonly images: SharedImages
  readonly error: ReturnType<typeof vi.fn<(fields: object, message: string) => void>>
  readonly info: ReturnType<typeof vi.fn<(message: string) => void>>
}

/** The images of a process that uses a store, by default the folder. */
function aProcess(store: Partial<ImageStore> = {}): Process {
  const error = vi.fn<(fields: object, message: string) => void>()
  const info = vi.fn<(message: string) => void>()
  const log = { error, info } as unknown as FastifyBaseLogger
  const images = new SharedImages(
    {
      entries: new FileEntries(join(folder, 'images')),
      locks: new FileLocks(join(folder, 'images/locks')),
      maxEntryBytes: 1_000_000,
      build: 'build',
      ...store,
    },
    {
      reading: new Availability(log, { works: 'reads again', fails: 'cannot read' }),
      storing: new Availability(log, { works: 'stores again', fails: 'cannot store' }),
    },
  )
  onTestFinished(() => images.close())
  return { images, error, info }
}

function image(text: string, more: Partial<ImageValue> = {}): ImageValue {
  const buffer = Buffer.from(text)
  return { kind: 'IMAGE', buffer, etag: 'etag', extension: 'webp', upstreamEtag: 'source', revalidate: 60, ...more }
}

const textOf = async ({ images }: Process, key = 'key'): Promise<string | undefined> => {
  const found = await images.get(key)
  return found === null ? undefined : Buffer.from(found.value.buffer).toString()
}

/** Requests an image as Next does: a missing one is transformed and stored. Counts transforms by the function. */
async function served(process: Process, transform: () => Promise<string>, key = 'key'): Promise<string> {
  const found = await textOf(process, key)
  if (found !== undefined) return found
  const text = await transform()
  await process.images.set(key, image(text))
  return text
}

const files = (name: RegExp): string[] =>
  readdirSync(join(folder, 'images'), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    .filter((path) => name.test(path))
const imageFiles = (): string[] => files(/\/images\/[0-9a-f]{2}\//)
const lockFiles = (): string[] => files(/\/locks\//)

/** A time so long ago that a lock of that time has expired. */
function expire(path: string): void {
  const at = (Date.now() - 2 * LEASE) / 1000
  utimesSync(path, at, at)
}

/** Registers the tests of a store that processes share. */
function transformsOnce(create: () => Process): void {
  it('one process transforms an image that all request at once, and the others get it', async () => {
    const processes = [create(), create(), create(), create()]
    const transform = vi.fn<() => Promise<string>>(async () => 'image')
    const shown = await Promise.all(processes.map((one) => served(one, transform)))
    expect(shown).toEqual(['image', 'image', 'image', 'image'])
    expect(transform).toHaveBeenCalledTimes(1)
  })

  it('different images are transformed at the same time', async () => {
    const [one, other] = [create(), create()]
    expect(await one.images.get('first')).toBeNull()
    expect(await other.images.get('second')).toBeNull()
  })

  it('after a failed transform, another process transforms it', async () => {
    const [one, other] = [create(), create()]
    expect(await one.images.get('key')).toBeNull()
    const waiting = served(other, async () => 'image')
    one.images.failed('key')
    expect(await waiting).toBe('image')
    expect(await textOf(one)).toBe('image')
  })

  it('one process refreshes a stale image, and the others serve it meanwhile', async () => {
    const processes = [create(), create(), create()]
    await processes[0]!.images.set('key', image('old', { revalidate: -1 }))
    const found = await Promise.all(processes.map(({ images }) => images.get('key')))
    expect(found.map((one) => String(one?.value.buffer))).toEqual(['old', 'old', 'old'])
    // Next treats the others as fresh, and does not transform them.
    expect(found.filter((one) => one?.lastModified !== undefined)).toHaveLength(1)
    await processes[found.findIndex((one) => one?.lastModified !== undefined)]!.images.set('key', image('new'))
    for (const one of processes) expect(await textOf(one)).toBe('new')
  })

  it('a lock belongs to its process until it releases it', async () => {
    const [one, other] = [create(), create()]
    expect(await one.images.get('key')).toBeNull()
    other.images.failed('key')
    const waiting = textOf(other)
    await one.images.set('key', image('image'))
    expect(await waiting).toBe('image')
  })
}

describe('in a folder', () => {
  transformsOnce(() => aProcess())

  it('another process takes over from one that has died', async () => {
    const [dead, other] = [aProcess(), aProcess()]
    expect(await dead.images.get('key')).toBeNull()
    const [lock] = lockFiles()
    const token = readFileSync(lock!)
    dead.images.failed('key')
    await vi.waitFor(() => expect(lockFiles()).toEqual([]))
    writeFileSync(lock!, token)
    expire(lock!)
    const transform = vi.fn<() => Promise<string>>(async () => 'image')
    expect(await Promise.all([served(other, transform), served(aProcess(), transform)])).toEqual(['image', 'image'])
    expect(transform).toHaveBeenCalledTimes(1)
  })

  it('a process that is slow keeps its lock, until it was forgotten', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
    const { images } = aProcess()
    expect(await images.get('key')).toBeNull()
    const [lock] = lockFiles()
    for (let seconds = 0; seconds < 2 * LEASE; seconds += LEASE / 5) {
      await vi.advanceTimersByTimeAsync(LEASE / 5)
      await vi.waitFor(() => expect(Math.abs(statSync(lock!).mtimeMs - Date.now())).toBeLessThan(LEASE / 5))
    }
    await vi.advanceTimersByTimeAsync(10 * LEASE)
    await vi.waitFor(() => expect(lockFiles()).toEqual([]))
  })

  it('a process whose lock was taken over does not release the next one', async () => {
    const [slow, other] = [aProcess(), aProcess()]
    expect(await slow.images.get('key')).toBeNull()
    expire(lockFiles()[0]!)
    expect(await other.images.get('key')).toBeNull()
    const token = readFileSync(lockFiles()[0]!, 'utf8')
    await slow.images.set('key', image('image'))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(lockFiles().map((path) => readFileSync(path, 'utf8'))).toEqual([token])
  })

  it('locks are released when the app closes', async () => {
    const { images } = aProcess()
    await images.get('key')
    images.close()
    await vi.waitFor(() => expect(lockFiles()).toEqual([]))
  })

  it.each<[string, (path: string) => void]>([
    ['truncated', (path) => truncateSync(path, statSync(path).size - 10)],
    ['empty', (path) => truncateSync(path, 0)],
    [
      'damaged',
      (path) => {
        const bytes = readFileSync(path)
        bytes[bytes.indexOf('an image') + 2] = 0x7a
        writeFileSync(path, bytes)
      },
    ],
    ['foreign', (path) => writeFileSync(path, 'text')],
  ])('a %s file is a missing image', async (_, damage) => {
    const one = aProcess()
    await one.images.set('key', image('an image'))
    damage(imageFiles()[0]!)
    expect(await served(aProcess(), async () => 'another')).toBe('another')
    expect(await textOf(one)).toBe('another')
  })

  it('an image of another key is missing, even in the file of the key', async () => {
    const one = aProcess()
    await one.images.set('private', image('secret'))
    const [secret] = imageFiles()
    await one.images.set('key', image('image'))
    cpSync(
      secret!,
      imageFiles().find((path) => path !== secret)!,
    )
    expect(await one.images.get('key')).toBeNull()
  })

  it('builds and apps with one folder never get images of each other', async () => {
    const [one, other] = [aProcess({ build: 'one' }), aProcess({ build: 'other' })]
    await one.images.set('key', image('of one'))
    expect(await other.images.get('key')).toBeNull()
    await other.images.set('key', image('of the other'))
    expect([await textOf(one), await textOf(other)]).toEqual(['of one', 'of the other'])
  })

  it('an image that is too large is not stored, and holds up nobody', async () => {
    const [one, other] = [aProcess({ maxEntryBytes: 3 }), aProcess({ maxEntryBytes: 3 })]
    const transform = vi.fn<() => Promise<string>>(async () => 'large')
    expect(await Promise.all([served(one, transform), served(other, transform)])).toEqual(['large', 'large'])
    expect(imageFiles()).toEqual([])
  })

  it('a folder that cannot be written is logged once, and each process transforms its images', async () => {
    writeFileSync(join(folder, 'images'), 'no folder')
    const one = aProcess()
    for (const key of ['first', 'second']) expect(await served(one, async () => 'image', key)).toBe('image')
    expect(one.error.mock.calls.map(([, message]) => message)).toEqual(['cannot store'])
    rmSync(join(folder, 'images'))
    expect(await served(one, async () => 'image', 'third')).toBe('image')
    expect(one.info.mock.calls).toEqual([['stores again']])
  })

  it('a process waits for another one up to a limit', async () => {
    const [slow, other] = [aProcess(), aProcess()]
    expect(await slow.images.get('key')).toBeNull()
    let time = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (time += 10_000))
    expect(await other.images.get('key')).toBeNull()
  })
})

describe.skipIf(isMissing)('in Redis', () => {
  const redis = redisServer()

  async function connected(): Promise<RedisConnection> {
    const connection = await connectToRedis(redis.path)
    onTestFinished(() => connection.close())
    return connection
  }

  async function onRedis(prefix: string): Promise<() => Process> {
    const { send } = await connected()
    return () => aProcess({ entries: new RedisEntries(send, prefix), locks: new RedisLocks(send, prefix) })
  }

  let create: () => Process
  let prefixes = 0
  beforeEach(async () => {
    create = await onRedis(`next:${prefixes++}:`)
  })
  transformsOnce(() => create())

  it('a lock expires by itself, and images some time after they are stale', async () => {
    const { client } = await connected()
    const { images } = create()
    await images.get('key')
    const [lock] = await client.keys(`next:${prefixes - 1}:lock:*`)
    expect(await client.pTTL(lock!)).toBeGreaterThan(0)
    expect(await client.pTTL(lock!)).toBeLessThanOrEqual(LEASE)
    await images.set('key', image('image'))
    const [entry] = await client.keys(`next:${prefixes - 1}:entry:*`)
    expect(await client.ttl(entry!)).toBeGreaterThan(60)
    expect(await client.ttl(entry!)).toBeLessThanOrEqual(60 + 24 * 3600)
    await vi.waitFor(async () => expect(await client.exists(lock!)).toBe(0))
  })

  it('a process whose lock was taken over does not release the next one', async () => {
    const { client } = await connected()
    const [slow, other] = [create(), create()]
    expect(await slow.images.get('key')).toBeNull()
    const [lock] = await client.keys(`next:${prefixes - 1}:lock:*`)
    await client.del(lock!)
    expect(await other.images.get('key')).toBeNull()
    const token = await client.get(lock!)
    slow.images.failed('key')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await client.get(lock!)).toBe(token)
  })
})

it('while Redis is down, each process transforms its images, and the log says so once', async () => {
  const send = sendWithTimeout({ redis: () => Promise.reject(new Error('connect ECONNREFUSED')) })
  const one = aProcess({ entries: new RedisEntries(send, ''), locks: new RedisLocks(send, '') })
  for (const key of ['first', 'second', 'third']) expect(await served(one, async () => 'image', key)).toBe('image')
  expect(one.error.mock.calls.map(([, message]) => message)).toEqual(['cannot read', 'cannot store'])
})

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type ImageCacheHandler, installImageCacheHandler } from '../../../src/next/image-cache/image-cache-handler.ts'

const OPTIMIZER = 'module.exports = { ImageOptimizerCache: { getCacheKey: ({ href }) => `key of ${href}` } }'

/** Writes an app whose Next has that version and that module. */
function anApp(version: string, optimizer: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'image-cache-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const server = join(dir, 'node_modules/next/dist/server')
  mkdirSync(server, { recursive: true })
  writeFileSync(join(dir, 'node_modules/next/package.json'), JSON.stringify({ name: 'next', version }))
  writeFileSync(join(server, 'image-optimizer.js'), optimizer)
  return dir
}

/** The server of a Next, which transforms images by that function. */
class Server {
  imageCacheHandler: ImageCacheHandler | undefined
  readonly #transform: (source: string) => string

  constructor(transform: (source: string) => string) {
    this.#transform = transform
  }

  readonly handleNextImageRequest = (): unknown => this.imageCacheHandler

  async imageOptimizer(_request: object, _response: object, { href }: { href: string }): Promise<string> {
    return this.#transform(href)
  }
}

const nextOf = (inner: object): object => ({ server: { getServer: async () => inner } })

function aHandler(): ImageCacheHandler & { readonly failed: ReturnType<typeof vi.fn<(key: string) => void>> } {
  return { get: async () => null, set: async () => {}, failed: vi.fn<(key: string) => void>() }
}

it.each<[string, string, string, object, string]>([
  ['older', '16.1.9', OPTIMIZER, new Server(String), 'its Next has no cache handler for images'],
  ['whose optimizer does not load', '16.4.6', 'throw Error()', new Server(String), 'its Next has no image optimizer'],
  ['with other keys', '16.4.6', 'exports.ImageOptimizerCache = {}', new Server(String), '"getCacheKey"'],
  ['that transforms in another way', '16.4.6', OPTIMIZER, {}, '"imageOptimizer"'],
  ['that caches in another way', '16.4.6', OPTIMIZER, { imageOptimizer: String }, 'caches images in another way'],
])('a Next %s keeps its own cache', async (_, version, optimizer, server, why) => {
  const before = { ...server }
  await expect(installImageCacheHandler(anApp(version, optimizer), nextOf(server), aHandler())).rejects.toThrow(why)
  expect(server).toEqual(before)
})

it.each(['16.2.0', '16.4.6', '17.0.0-canary.1'])(
  'Next %s uses the handler, which is told of failures',
  async (version) => {
    const server = new Server((source) => {
      if (source === 'missing') throw new Error('no source')
      return `transformed ${source}`
    })
    const handler = aHandler()
    const dir = anApp(version, OPTIMIZER)
    for (let times = 0; times < 2; times++) await installImageCacheHandler(dir, nextOf(server), handler)
    expect(server.handleNextImageRequest()).toBe(handler)
    expect(await server.imageOptimizer({}, {}, { href: 'a' })).toBe('transformed a')
    expect(handler.failed).not.toHaveBeenCalled()
    await expect(server.imageOptimizer({}, {}, { href: 'missing' })).rejects.toThrow('no source')
    expect(handler.failed.mock.calls).toEqual([['key of missing']])
  },
)

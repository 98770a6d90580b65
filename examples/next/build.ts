// `next build` of one variant of the app, unless a build of the same sources and versions exists.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cp, glob, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { deflateSync, crc32 } from 'node:zlib'
import { nextPackage, sources, web } from './app-folder.ts'
import { copyForOlderNext } from './older-next.ts'

const variant = process.env.NEXT_VARIANT ?? 'base'
const outputName = process.env.NEXT_BUILD === undefined ? variant : `${process.env.NEXT_BUILD}-${variant}`
const copied = new URL('.next/sources.hash', web)
const output = new URL(`.next/${outputName}/`, web)
const mark = new URL(`.next/${outputName}.hash`, web)
const lock = new URL('.next/lock', web)
const require = createRequire(import.meta.url)

await mkdir(new URL('.next/', web), { recursive: true })
await locked(async () => {
  const hash = await hashOfSources()
  if ((await readFile(mark, 'utf8').catch(() => '')) === hash) return
  // A copy of the same sources may be in use.
  if (web !== sources && (await readFile(copied, 'utf8').catch(() => '')) !== hash) {
    await copyForOlderNext(nextPackage, sources, web)
    await writeFile(copied, hash)
  }
  await rm(mark, { force: true })
  await rm(output, { recursive: true, force: true })
  await generateAssets()
  // Next writes into the one that it is given.
  await writeFile(new URL('.next/tsconfig.json', web), '{ "extends": "../tsconfig.json" }')
  const env = { ...process.env, NODE_ENV: 'production' as const, NEXT_VARIANT: variant, NEXT_TELEMETRY_DISABLED: '1' }
  const next = require.resolve(`${nextPackage}/dist/bin/next`)
  const build = spawn(process.execPath, [next, 'build', fileURLToPath(web)], { env, stdio: 'inherit' })
  const [code] = (await once(build, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`next build of ${variant} has failed`)
  // The standalone server needs the files that a content delivery network would serve.
  if (variant === 'standalone') {
    const standalone = new URL('standalone/examples/next/web/', output)
    await cp(new URL('public/', web), new URL('public/', standalone), { recursive: true })
    await cp(new URL('static/', output), new URL('.next/standalone/static/', standalone), { recursive: true })
  }
  await writeFile(mark, hash)
})

/** Two builds in one folder would write the same files. */
async function locked(build: () => Promise<void>): Promise<void> {
  let file
  while (!file) {
    try {
      file = await open(lock, 'wx')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const owner = Number(await readFile(lock, 'utf8').catch(() => ''))
      if (owner && !isAlive(owner)) await rm(lock, { force: true })
      await setTimeout(200)
    }
  }
  try {
    await file.writeFile(String(process.pid))
    await build()
  } finally {
    await file.close()
    await rm(lock, { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256')
  for (const name of [nextPackage, 'react', 'react-dom']) {
    hash.update((require(`${name}/package.json`) as { version: string }).version)
  }
  hash.update(await readFile(new URL(import.meta.url)))
  if (web !== sources) hash.update(await readFile(new URL('older-next.ts', import.meta.url)))
  const files: string[] = []
  const excluded = /^(?:\.next|node_modules|generated)$/
  // The one app has files of the other one.
  for (const folder of new Set([new URL('web/', import.meta.url).href, sources.href])) {
    for await (const file of glob('**/*', { cwd: fileURLToPath(folder), exclude: (name) => excluded.test(name) }))
      files.push(new URL(encodeURI(file), folder).href)
  }
  for (const file of files.filter((name) => /\.\w+$/.test(name) && !name.endsWith('next-env.d.ts')).toSorted()) {
    hash.update(`\n${file.slice(new URL('.', import.meta.url).href.length)}\n`).update(await readFile(new URL(file)))
  }
  return hash.digest('hex')
}

/** Files that are large but have no content of interest. */
async function generateAssets(): Promise<void> {
  const folder = new URL('public/generated/', web)
  await mkdir(folder, { recursive: true })
  await writeFile(new URL('asset-15k.js', folder), script(15_000))
  await writeFile(new URL('asset-300k.js', folder), script(300_000))
  await writeFile(new URL('picture.png', folder), picture(256))
}

/** As compressible as code is: the numbers do not repeat, the words do. */
function script(bytes: number): string {
  let text = ''
  for (let line = 1; text.length < bytes; line++) {
    text += `export const value${line} = combine(${(line * 7919) % 104_729}, '${((line * 104_729) % 1_299_709).toString(36)}')\n`
  }
  return text.slice(0, bytes)
}

/** A PNG of so many pixels each way. */
function picture(size: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const named = Buffer.concat([Buffer.from(type), data])
    const frame = Buffer.alloc(8)
    frame.writeUInt32BE(data.length, 0)
    frame.writeUInt32BE(crc32(named), 4)
    return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header.set([8, 2], 8) // 8 bits, red green blue
  const row = (y: number): number[] => [
    0,
    ...Array.from({ length: size }, (_, x) => [x % 256, y % 256, (x * y) % 256]).flat(),
  ]
  const pixels = Buffer.from(Array.from({ length: size }, (_, y) => row(y)).flat())
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { inflate } from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

/**
 * Chromium without a window: the one at CHROMIUM_PATH, or the one that `@sparticuz/chromium` brings for Linux
 * on x64, or elsewhere the Chrome of the machine. `undefined` where that is not installed.
 */
export async function launchChromium(): Promise<Browser | undefined> {
  const executablePath = process.env['CHROMIUM_PATH']
  if (executablePath) return chromium.launch({ executablePath })
  if (process.platform === 'linux' && process.arch === 'x64') return launchPacked()
  try {
    return await chromium.launch({ channel: 'chrome' })
  } catch (error) {
    if (!String(error).includes('is not found at')) throw error
    return undefined
  }
}

/** The package brings Chromium compressed, with the libraries and the font that a small system does not have. */
async function launchPacked(): Promise<Browser> {
  const packed = new URL('../', import.meta.resolve('@sparticuz/chromium'))
  const { version } = JSON.parse(await readFile(new URL('package.json', packed), 'utf8')) as { version: string }
  const cache = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
  const folder = `${cache}chromium-${version}`
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true })
    // It gets its name when it is complete.
    const incomplete = await mkdtemp(`${folder}-`)
    await unpack(['chromium.br', 'al2023.tar.br', 'fonts.tar.br'], new URL('bin/', packed), incomplete)
    await rename(incomplete, folder)
  }
  // fontconfig looks for fonts in XDG_DATA_HOME.
  const env = { ...process.env, LD_LIBRARY_PATH: `${folder}/al2023/lib`, XDG_DATA_HOME: folder }
  return chromium.launch({ executablePath: `${folder}/chromium`, env })
}

/** `inflate` writes to the folder for temporary files, where anyone could have put another Chromium. */
async function unpack(files: string[], from: URL, to: string): Promise<void> {
  const { TMPDIR } = process.env
  process.env['TMPDIR'] = to
  const inflated = files.map((file) => inflate(fileURLToPath(new URL(file, from))))
  if (TMPDIR === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = TMPDIR
  await Promise.all(inflated)
}

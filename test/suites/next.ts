import type { CaseOptions, FileSubject } from 'speed-bounds'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { BuildFacts } from '../differential/next-requests.ts'
import { endSubjects, startSubject } from '../running-subjects.ts'

const folder = new URL('../../examples/next/', import.meta.url)

/** Whether the app is built and served by the lowest Next that is supported, which has not all that the newest has. */
export const isLowest: boolean = process.env['NEXT_PACKAGE'] === 'next-lowest'

/** Where the app of most variants is built. */
const web = new URL(isLowest ? '.next-lowest/' : 'web/', folder)

/** How the app is built: see examples/next/web/next.config.ts, and for the last two examples/next/cache-components. */
export type Variant =
  | 'base'
  | 'proxy'
  | 'i18n'
  | 'basePath'
  | 'trailingSlash'
  | 'standalone'
  | 'cacheComponents'
  | 'partialPrefetching'

export type SubjectName =
  | 'next-start'
  | 'custom-server'
  | 'fastify-custom'
  | 'fastify-nextjs'
  | 'standalone'
  | 'next-on-fastify'
  | 'next-on-fastify-direct'

const subject = (name: string, env: Readonly<Record<string, string>> = {}): FileSubject & { file: URL } => ({
  file: new URL(`${name}.ts`, folder),
  env: { NEXT_TELEMETRY_DISABLED: '1', ...env },
})

/** They need a build: see {@link build}. */
export const subjects: Record<SubjectName, FileSubject & { file: URL }> = {
  'next-start': subject('next-start'),
  'custom-server': subject('custom-server'),
  'fastify-custom': subject('fastify-custom'),
  'fastify-nextjs': subject('fastify-nextjs'),
  'next-on-fastify': subject('next-on-fastify'),
  'next-on-fastify-direct': subject('next-on-fastify', { NEXT_BYPASS_ROUTER: 'all' }),
  standalone: subject('standalone', { NEXT_VARIANT: 'standalone' }),
}

/** The module that makes the app of `next-on-fastify`, for workers. */
export const nextApp: URL = new URL('next-on-fastify-app.ts', folder)

const two = { WORKERS: '2' }

/** Several processes with one build. */
export const clusters: Record<'fastify-cluster' | 'one-worker' | 'two-workers', FileSubject & { file: URL }> = {
  'fastify-cluster': subject('fastify-cluster', two),
  'one-worker': subject('../clustered-server/next-on-fastify', { WORKERS: '1' }),
  'two-workers': subject('../clustered-server/next-on-fastify', two),
}

/** The same server with more in its environment. */
export function withEnv(
  { file, env }: FileSubject & { file: URL },
  more: Readonly<Record<string, string>>,
): FileSubject & { file: URL } {
  return { file, env: { ...env, ...more } }
}

const gzip = { headers: { 'accept-encoding': 'gzip' } } as const
/** Compares pages without their count of renders, which differs between servers. */
const counted = { normalize: (answer) => ({ ...answer, body: '' }) } satisfies Partial<CaseOptions>

/** Cacheable responses of the build `base`. */
export const keptCases: Record<
  'page' | 'pageGzip' | 'oldPage' | 'isr' | 'oldIsr' | 'handler' | 'small' | 'asset' | 'assetGzip' | 'largeGzip',
  CaseOptions
> = {
  page: { path: '/static' },
  pageGzip: { path: '/static', ...gzip },
  /** The page of the seed: by the Pages Router, rendered at build. */
  oldPage: { path: '/old/static' },
  isr: { path: '/isr' },
  oldIsr: { path: '/old/isr' },
  handler: { path: '/handlers/isr' },
  small: { path: '/small.txt' },
  asset: { path: '/generated/asset-15k.js' },
  assetGzip: { path: '/generated/asset-15k.js', ...gzip },
  largeGzip: { path: '/generated/asset-300k.js', ...gzip },
}

/** Responses that Next renders for each request. */
export const freshCases: Record<'api' | 'dynamicHandler' | 'ssr' | 'oldSsr' | 'streaming', CaseOptions> = {
  api: { path: '/api/message' },
  dynamicHandler: { path: '/handlers/dynamic', ...counted },
  ssr: { path: '/ssr', ...counted },
  oldSsr: { path: '/old/ssr', ...counted },
  streaming: { path: '/streaming', ...counted },
}

/** Responses of the build `proxy`, whose middleware runs before the first two and never for the third. */
export const proxyCases: Record<'behindProxy' | 'postBehindProxy' | 'besideProxy', CaseOptions> = {
  behindProxy: { path: '/isr' },
  postBehindProxy: { path: '/posts/first' },
  besideProxy: { path: '/static' },
}

/** Requests of returning visitors: whether a page has changed, and its data for the App Router. */
export async function learnedCases(): Promise<Record<'unmodified' | 'rsc', CaseOptions>> {
  const { path } = keptCases.page
  const { file, env } = subjects['next-start']
  const { origin } = await startSubject(file, { env: env ?? {} })
  try {
    const rsc = { rsc: '1' }
    const etag = (await fetch(origin + path)).headers.get('etag') ?? ''
    // Next redirects requests without the hash of these headers to the URL with it.
    const location = (await fetch(origin + path, { headers: rsc, redirect: 'manual' })).headers.get('location') ?? ''
    const unmodified: CaseOptions = {
      path,
      headers: { 'if-none-match': etag },
      expect: { status: 304, body: '' },
      compareHeaders: ['etag'],
    }
    return { unmodified, rsc: { path: location, headers: rsc } }
  } finally {
    endSubjects()
  }
}

/** Maximum time of a build on a busy machine, in milliseconds. */
export const BUILD_TIMEOUT = 600_000

/** Where the app is that is built so: see examples/next/app-folder.ts. */
const appOf = (variant: Variant): URL =>
  variant === 'cacheComponents' || variant === 'partialPrefetching' ? new URL('cache-components/', folder) : web

/** `next build`, once for the same sources and versions; of another id it has a folder of its own. */
export async function build(variant: Variant = 'base', id?: string): Promise<void> {
  const env = {
    ...process.env,
    NEXT_VARIANT: variant,
    NEXT_TELEMETRY_DISABLED: '1',
    ...(id !== undefined && { NEXT_BUILD: id }),
  }
  const file = fileURLToPath(new URL('build.ts', folder))
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`The build of ${variant} has failed:\n${printed}`)
}

/**
 * Copies of a build, as old as each other: a server writes pages that it has rendered again into its build, and tells
 * how old a file is.
 */
export async function copiesOfBuild(
  variant: Variant,
  count: number,
): Promise<{ dirs: string[]; remove: () => Promise<void> }> {
  const copies = new URL('.copies/', folder)
  await mkdir(copies, { recursive: true })
  const parent = await mkdtemp(fileURLToPath(new URL(`${variant}-`, copies)))
  const dirs = Array.from({ length: count }, (_, index) => `${parent}/${index}`)
  const [first = '', ...others] = dirs
  const unneeded =
    /\/\.next\/(?:lock|tsconfig\.json|.+\.hash|[^/]+\/(?:cache|trace|types|diagnostics|turbopack)(?:$|\/))|\.map$/
  const own = `/.next/${variant}`
  const filter = (from: string): boolean => {
    const at = from.indexOf('/.next/')
    return !unneeded.test(from) && (at === -1 || from.slice(at).startsWith(own))
  }
  await cp(appOf(variant), first, { recursive: true, filter })
  for (const other of others) await cp(first, other, { recursive: true, preserveTimestamps: true })
  return { dirs, remove: () => rm(parent, { recursive: true, force: true }) }
}

/** Puts a build with another id in the place of that of each copy, as a deployment does that builds where it serves. */
export async function replaceBuild(dirs: readonly string[], variant: Variant, id: string): Promise<void> {
  for (const dir of dirs) {
    const output = `${dir}/.next/${variant}`
    await rm(output, { recursive: true })
    await cp(new URL(`.next/${id}-${variant}/`, appOf(variant)), output, { recursive: true, preserveTimestamps: true })
  }
}

/** Files of a copy of a build. */
export async function factsOf(dir: string, variant: Variant): Promise<BuildFacts> {
  const output = `${dir}/.next/${variant}`
  const chunks = await readdir(`${output}/static/chunks`)
  return {
    buildId: await readFile(`${output}/BUILD_ID`, 'utf8'),
    assets: chunks
      .filter((name) => name.endsWith('.js'))
      .toSorted()
      .map((name) => `chunks/${name}`),
  }
}

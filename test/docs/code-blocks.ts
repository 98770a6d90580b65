// TypeScript of the pages, as a reader pastes it into a project of `npx tsc --init`.

import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface CodeBlock {
  /** Path of the page in the repository. */
  readonly page: string
  /** Line of the page at which the code begins. */
  readonly line: number
  readonly code: string
}

/** Blocks of TypeScript, in the order of the page. Those in a list are indented. */
export function codeBlocksOf(page: string, text: string): CodeBlock[] {
  return [...text.matchAll(/^( *)```tsx?\n([\s\S]*?)^ *```$/gm)].map(({ index, 2: code }) => ({
    page,
    line: text.slice(0, index).split('\n').length + 1,
    code: code!,
  }))
}

/** Names of packages, which a fragment may use if a block of its page imports them. */
const IMPORTABLE = [
  'gatewayPlugin',
  'jwtAuthentication',
  'openApiPlugin',
  'race',
  'rateLimit',
  'reconnectOnClose',
  'swagger',
  'trpcPlugin',
  'websocket',
] as const

/** Those of these names that the TypeScript of a page uses, and no block of it imports. */
export function unimported(text: string): string[] {
  const imports = [...text.matchAll(/^[+ ]*import (?:[^']*) from '/gm)].join('\n')
  // Without imports, texts and comments. A name after a dot or before a colon is a property.
  const code = codeBlocksOf('', text).map((block) => block.code.replaceAll(/^ *import .*$|'[^'\n]*'|\/\/.*/gm, ''))
  return IMPORTABLE.filter((name) => {
    const isUsed = code.some((one) => new RegExp(`(?<![.\\w])${name}\\b(?!:)`).test(one))
    return isUsed && !new RegExp(`\\b${name}\\b`).test(imports)
  })
}

/** What a fragment has from the reader's app, and from blocks before it. Whatever a block declares or imports wins. */
const READERS_APP = `
import type {} from '@fastify/basic-auth'
import type { AnyTRPCRouter } from '@trpc/server'
import type { AggregatorGatewayOptions } from 'aggregator-gateway'
import type { JwtAuthenticationOptions } from 'aggregator-gateway/jwt'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Histogram } from 'prom-client'
import type { Subjects } from 'speed-bounds'
import type { CreateFastifyContextOptions, TrpcPluginOptions } from 'trpc-fastify'

declare global {
  const app: FastifyInstance
  const instance: FastifyInstance
  const error: unknown
  const histogram: Histogram
  const rateLimit: typeof import('@fastify/rate-limit').default
  const swagger: typeof import('@fastify/swagger').default
  const websocket: typeof import('@fastify/websocket').default

  const trpcPlugin: typeof import('trpc-fastify').trpcPlugin
  const openApiPlugin: typeof import('trpc-fastify/openapi').openApiPlugin
  const reconnectOnClose: typeof import('trpc-fastify').reconnectOnClose
  type AppRouter = AnyTRPCRouter
  const appRouter: AppRouter
  const createContext: (options: CreateFastifyContextOptions) => object
  const trpcOptions: TrpcPluginOptions<AppRouter>['trpcOptions']
  const procedures: NonNullable<TrpcPluginOptions<AppRouter>['procedures']>
  const observers: NonNullable<TrpcPluginOptions<AppRouter>['observers']>
  const findUser: (id: number) => { id: number; name: string }

  const gatewayPlugin: typeof import('aggregator-gateway').gatewayPlugin
  const jwtAuthentication: typeof import('aggregator-gateway/jwt').jwtAuthentication
  const upstreams: AggregatorGatewayOptions['upstreams']
  const endpoints: AggregatorGatewayOptions['endpoints']
  const options: JwtAuthenticationOptions
  const tenantOf: (request: FastifyRequest) => string

  const race: typeof import('speed-bounds').race
  const subjects: Subjects
}
`

/** Packages that no part of the workspace has. */
export const NOT_INSTALLED: string = `
declare module '@opentelemetry/sdk-node' {
  export class NodeSDK {
    constructor(options: { serviceName: string })
    start(): void
    shutdown(): Promise<void>
  }
}
`

/** Files that the commands of the pages generate. */
const GENERATED: Readonly<Record<string, string>> = {
  'paths.ts': responseTypes('/api/users/{id}', '{ id: number; name: string }'),
  'users-api.ts': responseTypes('/users/{id}', '{ id: number; name: string }'),
}

/** Types of a GET request, as openapi-typescript writes them. */
function responseTypes(path: string, body: string): string {
  const parameters = '{ query?: never; header?: never; path: { id: number }; cookie?: never }'
  const ok = `{ headers: { [name: string]: unknown }; content: { 'application/json': ${body} } }`
  return `export interface paths {
  '${path}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get: { parameters: ${parameters}; requestBody?: never; responses: { 200: ${ok} } }
  }
}
`
}

/** The settings of `npx tsc --init`, with the types of Node and imports of .ts files. */
const SETTINGS = {
  compilerOptions: {
    module: 'nodenext',
    target: 'esnext',
    types: ['node'],
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    strict: true,
    jsx: 'react-jsx',
    verbatimModuleSyntax: true,
    isolatedModules: true,
    noUncheckedSideEffectImports: true,
    moduleDetection: 'force',
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  },
}

/** What the compiler says of the blocks, by page, with the lines of the page. */
export async function typeErrors(
  root: string,
  folder: string,
  blocks: readonly CodeBlock[],
): Promise<ReadonlyMap<string, string[]>> {
  linkPackages(root, folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(SETTINGS))
  writeFileSync(join(folder, 'readers-app.d.ts'), READERS_APP)
  writeFileSync(join(folder, 'not-installed.d.ts'), NOT_INSTALLED)
  const pages = writeBlocks(folder, blocks)
  const output = await outputOf(join(root, 'node_modules/.bin/tsc'), folder)
  const errors = new Map<string, string[]>()
  for (const [, file, line, text] of output.matchAll(/^(\S+?)\((\d+),\d+\): error (.*(?:\n .*)*)$/gm)) {
    // Sources of this workspace have a check of their own.
    if (file!.startsWith('..')) continue
    const page = pages.get(file!) ?? file!
    errors.set(page, [...(errors.get(page) ?? []), `line ${line}: ${text}`])
  }
  return errors
}

/** Writes each block under its name, at its line. Of blocks with one name, each has a folder of its own. Returns pages by file. */
function writeBlocks(folder: string, blocks: readonly CodeBlock[]): Map<string, string> {
  const pages = new Map<string, string>()
  for (const { page, line, code } of blocks) {
    const name = /^\s*\/\/ (\S+\.tsx?)\n/.exec(code)?.[1] ?? `line-${line}.ts`
    let place = page.replaceAll('/', '_')
    while (existsSync(join(folder, place, name))) place += '_'
    const path = `${place}/${name}`
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), `${'\n'.repeat(line - 1)}${code}`)
    for (const [generated, types] of Object.entries(GENERATED)) writeFileSync(join(folder, place, generated), types)
    pages.set(path, page)
  }
  return pages
}

/** Gives the folder all packages that some package, example or test of the workspace has. */
function linkPackages(root: string, folder: string): void {
  const places = [
    'packages/*/node_modules',
    'examples/*/node_modules',
    'test/node_modules',
    'test/*/node_modules',
    'node_modules',
  ]
  const patterns = places.flatMap((place) => [`${place}/[!@.]*`, `${place}/@*/*`])
  for (const path of globSync(patterns, { cwd: root })) {
    const link = join(folder, path.slice(path.indexOf('node_modules')))
    if (existsSync(link)) continue
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, path), link)
  }
}

const outputOf = (program: string, cwd: string): Promise<string> =>
  new Promise((resolve) =>
    execFile(program, ['--pretty', 'false'], { cwd, maxBuffer: 2 ** 24 }, (_, stdout) => resolve(stdout)),
  )

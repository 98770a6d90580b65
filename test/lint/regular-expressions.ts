// Reports regular expressions whose time grows faster than what they are matched with: a header of 15,000 characters may
// then stop a server for a quarter of a second. `node regular-expressions.ts <folder of packages>`, as part of `pnpm lint`.

import { createRequire } from 'node:module'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { check } from 'recheck'
import { parseAst } from 'rolldown/parseAst'
import { allowed } from './allowed-expressions.ts'

/** An expression, as its source has it. */
interface Expression {
  readonly place: string
  /** `/source/flags`, or what the source calls to make one. */
  readonly text: string
  /** Where it is known before the program runs. */
  readonly pattern?: { readonly source: string; readonly flags: string }
}

/** Milliseconds that may be spent on one: without a finding by then it counts as one. */
const PATIENCE = 60_000
/** Tries with limits by their steps. Limits by the clock called safe expressions slow while the machine was busy. */
const TRIES = { checker: 'fuzz', attackTimeout: null, incubationTimeout: null, seedingTimeout: null } as const
const UNKNOWN = 'is not understood'
/** Verdicts of this version of recheck: to find them takes 10 s, and they do not change. */
const CACHE = fileURLToPath(new URL(`../node_modules/.cache/recheck-${versionOf('recheck')}.json`, import.meta.url))

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly regex?: { readonly pattern: string; readonly flags: string }
  readonly callee?: { readonly name?: string }
  readonly arguments?: readonly { readonly type: string; readonly value?: unknown }[]
}

function versionOf(name: string): string {
  const require = createRequire(import.meta.url)
  return (require(`${name}/package.json`) as { version: string }).version
}

/** All expressions of the sources below a folder. */
function expressionsIn(folder: string): Expression[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /^[^/]+\/src\/.*\.ts$/.test(path) && !path.endsWith('.d.ts'))
    .flatMap((path) => expressionsOf(path, readFileSync(join(folder, path), 'utf8')))
}

function expressionsOf(path: string, source: string): Expression[] {
  const found: Expression[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const node = value as Node
    const place = `${path}:${source.slice(0, node.start).split('\n').length}`
    const text = source.slice(node.start, node.end)
    if (node.regex) found.push({ place, text, pattern: { source: node.regex.pattern, flags: node.regex.flags } })
    if (node.callee?.name === 'RegExp') found.push({ place, text, ...constantOf(node) })
    for (const child of Object.values(value)) visit(child)
  }
  visit(parseAst(source, { lang: 'ts', sourceType: 'module' }))
  return found
}

/** The pattern of a call of `RegExp` with text that is known. */
function constantOf({ arguments: given = [] }: Node): Pick<Expression, 'pattern'> {
  const [source, flags = ''] = given.map(({ value }) => value)
  return typeof source === 'string' && typeof flags === 'string' ? { pattern: { source, flags } } : {}
}

/** What is wrong with each expression, by its text: nothing, if that is empty. */
async function verdictsOf(expressions: readonly Expression[]): Promise<Record<string, string>> {
  const known = knownVerdicts()
  const open = new Map(expressions.filter(({ text }) => known[text] === undefined).map((one) => [one.text, one]))
  const shares = Array.from({ length: Math.min(availableParallelism(), open.size) }, (_, index) =>
    [...open.values()].filter((_one, at) => at % availableParallelism() === index),
  )
  const verdicts = Object.assign(known, ...(await Promise.all(shares.map(inThread)))) as Record<string, string>
  const certain = Object.entries(verdicts).filter(([, verdict]) => !verdict.startsWith(UNKNOWN))
  mkdirSync(dirname(CACHE), { recursive: true })
  writeFileSync(CACHE, JSON.stringify(Object.fromEntries(certain)))
  return verdicts
}

function knownVerdicts(): Record<string, string> {
  try {
    return JSON.parse(readFileSync(CACHE, 'utf8')) as Record<string, string>
  } catch {
    return {}
  }
}

function inThread(share: readonly Expression[]): Promise<Record<string, string>> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, RECHECK_BACKEND: 'pure' }
    const thread = new Worker(fileURLToPath(import.meta.url), { workerData: share, env })
    thread.once('message', resolve).once('error', reject)
  })
}

async function verdictOf({ pattern }: Expression): Promise<string> {
  if (!pattern) return 'is made while the program runs'
  const { source, flags } = pattern
  const proved = await check(source, flags, { timeout: PATIENCE, checker: 'automaton' })
  // It does not know lookaround.
  const found = proved.status === 'unknown' ? await check(source, flags, { timeout: PATIENCE, ...TRIES }) : proved
  if (found.status === 'safe') return ''
  if (found.status === 'unknown') return `${UNKNOWN}: ${found.error.kind}`
  return `takes ${found.complexity.summary} time, such as for ${found.attack.pattern}`
}

async function lint(folder: string): Promise<number> {
  const expressions = expressionsIn(folder)
  if (expressions.length === 0) throw new Error(`There are no regular expressions below ${folder}`)
  const verdicts = await verdictsOf(expressions)
  const isAllowed = ({ place, text }: Expression): boolean =>
    allowed.some((one) => one.text === text && place.startsWith(`${one.file}:`))
  const wrong = expressions.filter((one) => verdicts[one.text] !== '' && !isAllowed(one))
  for (const { place, text } of wrong) console.error(`${place}: ${text} ${verdicts[text]}`)
  const isUsed = ({ file, text }: (typeof allowed)[number]): boolean =>
    expressions.some((one) => one.text === text && one.place.startsWith(`${file}:`) && verdicts[text] !== '')
  const unused = allowed.filter((one) => !isUsed(one))
  for (const { file, text } of unused) console.error(`${file}: ${text} is allowed without need`)
  return wrong.length + unused.length
}

if (isMainThread) {
  const [folder = fileURLToPath(new URL('../../packages', import.meta.url))] = process.argv.slice(2)
  process.exitCode = (await lint(folder)) > 0 ? 1 : 0
} else {
  const verdicts: Record<string, string> = {}
  for (const one of workerData as readonly Expression[]) verdicts[one.text] = await verdictOf(one)
  parentPort!.postMessage(verdicts)
}

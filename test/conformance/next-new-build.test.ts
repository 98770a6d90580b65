// A deployment: a build with another id takes the place of the one that is served, new processes serve it, and the old ones
// end what they have begun. Ours and Next's own server do so side by side, each in a folder of its own.

import { cp, readFile } from 'node:fs/promises'
import getPort from 'get-port'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { differencesOf } from '../differential/differences.ts'
import { type BuildFacts, nextRequests } from '../differential/next-requests.ts'
import { ask, get, type RawRequest } from '../differential/raw-request.ts'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { build, BUILD_TIMEOUT, copiesOfBuild, factsOf, replaceBuild, subjects } from '../suites/next.ts'

const NEW = 'build-2'
const names = ['next-start', 'next-on-fastify'] as const

let dirs: string[]
let remove: () => Promise<void>
let old: BuildFacts

beforeAll(async () => {
  await build()
  await build('base', NEW)
}, BUILD_TIMEOUT * 2)
beforeEach(async () => {
  ;({ dirs, remove } = await copiesOfBuild('base', names.length))
  old = await factsOf(dirs[0]!, 'base')
})
afterEach(async () => {
  endSubjects()
  await remove()
})

/** One of each, with the build that is in its folder now. */
async function startBoth(): Promise<Awaited<ReturnType<typeof startSubject>>[]> {
  return Promise.all(
    names.map(async (name, index) => {
      const { file, env } = subjects[name]
      const port = String(await getPort({ host: '127.0.0.1' }))
      return startSubject(file, { port, env: { ...env, NEXT_DIR: dirs[index]! } })
    }),
  )
}

/** What clients of a build ask for by its id. */
const ofBuild = ({ buildId }: BuildFacts): RawRequest[] => [
  get(`/_next/static/${buildId}/_buildManifest.js`),
  get(`/_next/static/${buildId}/_buildManifest.js`, ['accept-encoding', 'gzip']),
  get(`/_next/data/${buildId}/old/isr.json`),
  get(`/_next/data/${buildId}/old/generated.json`),
  get(`/_next/data/${buildId}/old/isr.json`, ['x-nextjs-data', '1']),
]

/** What names its build in its body. */
const pages = ['/static', '/isr', '/old/static', '/old/isr', '/posts/first'].map((path) => get(path))

it('new processes answer from the new build alone, old ones end in peace', { timeout: BUILD_TIMEOUT }, async () => {
  const before = await startBoth()
  const was = { reference: before[0]!.origin, candidate: before[1]!.origin }
  const kept = [...pages, ...ofBuild(old)]
  // Asked three times: the first is learned from, and the last is from memory, wherever there is one.
  expect((await differencesOf(was, kept, 3)).differences.join('\n')).toBe('')

  const manifest = await readFile(`${dirs[0]!}/.next/base/static/${old.buildId}/_buildManifest.js`, 'utf8')
  // They have begun, and what makes them is loaded: of a page that nobody has asked for yet, there would be no code left.
  const streaming = await Promise.all(before.map(({ origin }) => fetch(`${origin}/streaming`)))
  await replaceBuild(dirs, 'base', NEW)
  const fresh = await factsOf(dirs[0]!, 'base')
  expect([old.buildId, fresh.buildId]).toEqual(['build-1', NEW])
  const after = await startBoth()
  const is = { reference: after[0]!.origin, candidate: after[1]!.origin }

  // What clients with the old build ask the new one for, what those with the new one do, and all else.
  const asked = [...ofBuild(old), ...ofBuild(fresh), ...pages, ...nextRequests(fresh, 29)]
  const found = await differencesOf(is, asked, 2)
  expect(found.differences.slice(0, 20).join('\n')).toBe('')
  const statuses = async (origin: string, requests: readonly RawRequest[]): Promise<string[]> =>
    Promise.all(requests.map(async (request) => (await ask(origin, request)).status.slice(9, 12)))
  expect(new Set(await statuses(is.candidate, ofBuild(old)))).toEqual(new Set(['404']))
  expect(new Set(await statuses(is.candidate, ofBuild(fresh)))).toEqual(new Set(['200']))
  for (const page of pages) expect((await ask(is.candidate, page)).body.toString()).not.toContain(old.buildId)

  // Files of the old build are gone: Next has an error for whoever asks, and ours gives what it has kept. All else is alike.
  const files = kept.filter(({ target }) => target.startsWith('/_next/static/'))
  const others = kept.filter((request) => !files.includes(request))
  expect((await differencesOf(was, others, 2)).differences.join('\n')).toBe('')
  expect(await statuses(was.reference, files)).toEqual(files.map(() => '400'))
  for (const file of files) expect((await ask(was.candidate, file)).body.toString()).toBe(manifest)

  for (const answer of streaming) expect(await answer.text()).toMatch(/After (?:<!-- -->)?300/)
  for (const { child, ended } of before) {
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  }
})

it('files of the build before are served too where they lie beside those of the new one', async () => {
  const files = ofBuild(old).filter(({ target }) => target.startsWith('/_next/static/'))
  const statics = dirs.map((dir) => `${dir}/.next/base/static`)
  const kept = `${dirs[0]!}/kept`
  await cp(statics[0]!, kept, { recursive: true, preserveTimestamps: true })
  await replaceBuild(dirs, 'base', NEW)
  for (const to of statics) await cp(kept, to, { recursive: true, preserveTimestamps: true, force: false })

  const fresh = await factsOf(dirs[0]!, 'base')
  const [reference, candidate] = (await startBoth()).map(({ origin }) => origin)
  const is = { reference: reference!, candidate: candidate! }
  expect((await differencesOf(is, [...files, ...ofBuild(fresh)], 3)).differences.join('\n')).toBe('')
  const manifest = await readFile(`${kept}/${old.buildId}/_buildManifest.js`, 'utf8')
  for (const file of files) {
    const { status, headers, body } = await ask(is.candidate, file)
    expect([status, body.toString()]).toEqual(['HTTP/1.1 200 OK', manifest])
    expect(headers).toContainEqual(['Cache-Control', 'public, max-age=31536000, immutable'])
  }
})

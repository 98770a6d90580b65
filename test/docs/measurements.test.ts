import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Bound, bounds, limits } from '../perf/bounds.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

const page = read('docs/measurements.md')

/** Text of each section by its heading, which is its anchor. */
const sections = page
  .split(/^(?=#{2,3} )/m)
  .filter((text) => text.startsWith('### '))
  .map((text) => ({ heading: text.slice('### '.length, text.indexOf('\n')), text }))

const textOf = (anchor: string): string | undefined => sections.find(({ heading }) => heading === anchor)?.text
const decisionOf = (anchor: string): string => textOf(anchor)?.split('**Decision:**')[1] ?? ''

/** GitHub's anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')

const anchors = new Set([...page.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => anchorOf(heading!)))

const keyOfLimit = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

const tables: [string, readonly Bound[]][] = Object.entries(bounds)

describe('docs/measurements.md', () => {
  it('has headings of sections that are their own anchors, each once', () => {
    const headings = sections.map(({ heading }) => heading)
    expect(headings.filter((heading) => anchorOf(heading) !== heading)).toEqual([])
    expect([...new Set(headings)]).toEqual(headings)
  })

  it.each(sections)('$heading has a question, a table of runs and a decision, in this order', ({ text }) => {
    expect(text).toMatch(/\n\*\*Question:\*\* [^|]+\?\n\n\|[^]+\n\| -[^]+\n\| [^]+\n\*\*Decision:\*\* [^|]+\.\n+$/)
  })

  it.each([...Object.keys(bounds), ...Object.keys(limits).map(keyOfLimit)])('has a section for the claim %s', (key) => {
    expect(textOf(key)).toBeDefined()
  })

  it.each(tables)('states every bound and target of %s in its decision', (key, claims) => {
    const figures = claims.flatMap(({ atLeast, target = atLeast, quick = atLeast }) => [atLeast, target, quick])
    const stated = new Set([...decisionOf(key).matchAll(/(?<![\d.])([\d.]+)x/g)].map(([, figure]) => Number(figure)))
    expect(figures.filter((figure) => !stated.has(figure))).toEqual([])
  })

  it.each(Object.entries(limits))('states the limits of %s in its decision', (name, limit) => {
    const stated = [...decisionOf(keyOfLimit(name)).matchAll(/(?<![\d.])([\d.]*\d)(?:x| MB| ms)/g)].map(([, figure]) =>
      Number(figure),
    )
    expect(stated).toEqual(typeof limit === 'number' ? [limit] : Object.values(limit))
  })

  it('has no link to a section of its own that is missing', () => {
    const linked = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor!)
    expect(linked.length).toBeGreaterThan(0)
    expect(linked.filter((anchor) => !anchors.has(anchor))).toEqual([])
  })
})

it('a target is above its bound', () => {
  const weak = tables.flatMap(([key, claims]) =>
    claims.filter(({ atLeast, target = Infinity }) => target <= atLeast).map((claim) => ({ key, claim })),
  )
  expect(weak).toEqual([])
})

it('a bound of `test:perf` is below that of `test:perf:all`', () => {
  const strong = tables.flatMap(([key, claims]) =>
    claims.filter(({ atLeast, quick = 0 }) => quick >= atLeast).map((claim) => ({ key, claim })),
  )
  expect(strong).toEqual([])
})

it('every link to a section of docs/measurements.md in the repository leads to one', () => {
  const isGenerated = (path: string): boolean => /(^|\/)(node_modules|dist|results|\.next[^/]*)$/.test(path)
  const places = ['*', '{.ci,.changeset,.github}/**/*', '{docs,examples,packages,test}/**/*']
  const files = globSync(
    places.map((place) => `${place}.{cjs,js,json,md,mjs,ts,tsx,yaml,yml}`),
    { cwd: root, exclude: isGenerated },
  )
  const links = files.flatMap((file) =>
    [...read(file).matchAll(/measurements\.md#([\w-]+)/g)].map(([, anchor]) => ({ file, anchor: anchor! })),
  )
  expect(files).toEqual(expect.arrayContaining(['.github/CONTRIBUTING.md', 'packages/trpc-fastify/src/index.ts']))
  expect(links.length).toBeGreaterThan(0)
  expect(links.filter(({ anchor }) => !anchors.has(anchor))).toEqual([])
})

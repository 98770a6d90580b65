// Every page and every comment reads as WRITING asks for: nouns are there, sentences are short, terms are the field's.

import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { commentsOf, proseOf, proseOfMarkdown } from './prose.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const find = (...patterns: string[]): string[] =>
  globSync(patterns, { cwd: root, exclude: ['**/node_modules', '**/dist', '**/.next*'] }).toSorted()
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8')

/** For each 1000 words. A short text may have one. */
const MAX_MISSING_NOUNS = { page: 2, comments: 3 }
const MAX_AVERAGE_SENTENCE = 18

const pages = find(
  '*.md',
  '.github/*.md',
  'docs/**/*.md',
  'packages/*/*.md',
  'packages/*/docs/**/*.md',
  'examples/**/*.md',
  '.changeset/*.md',
)
const folders = [
  ...find('packages/*/src'),
  ...find('packages/*/bench'),
  ...find('examples/*/'),
  'test/perf',
  'test/suites',
]

describe.each(pages)('%s', (page) => {
  const { words, missingNouns, averageSentence, privateWords } = proseOf(proseOfMarkdown(read(page)))

  it('names the things it speaks of', () => {
    expect(missingNouns).toBeLessThanOrEqual(Math.max(1, (MAX_MISSING_NOUNS.page * words) / 1000))
  })

  it('has short sentences', () => {
    expect(averageSentence).toBeLessThanOrEqual(MAX_AVERAGE_SENTENCE)
  })

  it("has the field's terms", () => {
    expect(privateWords).toEqual([])
  })
})

describe.each(folders)('comments in %s', (folder) => {
  const sources = find(`${folder}/**/*.{ts,tsx,mts,cts}`).map((path) => commentsOf(read(path)))
  const { words, missingNouns, averageSentence, privateWords } = proseOf(sources.join('\n\n'))

  it('name the things they speak of', () => {
    expect(missingNouns).toBeLessThanOrEqual(Math.max(1, (MAX_MISSING_NOUNS.comments * words) / 1000))
  })

  it('have short sentences', () => {
    expect(averageSentence).toBeLessThanOrEqual(MAX_AVERAGE_SENTENCE)
  })

  it("have the field's terms", () => {
    expect(privateWords).toEqual([])
  })
})

it('counts as it should', () => {
  expect(proseOf('What rests is evened out. The primary restarts a dead worker.')).toMatchObject({
    words: 11,
    missingNouns: 1,
    averageSentence: 5.5,
    privateWords: ['evened out -> rebalanced: What rests is evened out. The primary restarts a dead worker.'],
  })
  expect(commentsOf("/** One. `what`\n * Two.\n * @example\n * what()\n */\nconst a = 'http://what' // Three.\n")).toBe(
    'One. code\nTwo.\n\nThree.',
  )
  expect(proseOfMarkdown('---\na: what\n---\nOne [what](what) `what`.\n```\nwhat\n```\n')).toBe('One [what] code.\n\n')
})

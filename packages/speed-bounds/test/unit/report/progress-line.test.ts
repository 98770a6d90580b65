import { stripVTControlCharacters } from 'node:util'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Progress, progressLine } from '../../../src/index.ts'
import { widthOf } from '../../../src/report/terminal-width.ts'

beforeEach(() => vi.stubEnv('CI', ''))
afterEach(() => vi.unstubAllEnvs())

const step = (subject: string, phase: Progress['phase'] = 'measuring'): Progress => ({
  ...{ subject, phase, stage: 1, done: 0, total: 8, elapsed: 0, remaining: 13_500 },
})

function stream(columns: number | undefined): { written: string[]; out: NodeJS.WriteStream } {
  const written: string[] = []
  const out = new PassThrough().on('data', (text: Buffer) => written.push(text.toString()))
  return {
    written,
    out: Object.assign(out, { isTTY: columns !== undefined, columns }) as unknown as NodeJS.WriteStream,
  }
}

const visible = (text: string): string[] => stripVTControlCharacters(text).split('\n').filter(Boolean)

it('shows a live line for each subject, with the remaining time of the active one', () => {
  const { written, out } = stream(80)
  const line = progressLine(out)
  for (const subject of ['fastify', 'express', 'fastify']) line.show(step(subject))
  expect(visible(written.at(-1)!)).toEqual([
    '> fastify  stage 1: measuring 2, about 14 s left',
    '  express  stage 1: measuring 1',
  ])
})

it.each([20, 40])('writes no line longer than a terminal of %i columns', (columns) => {
  const { written, out } = stream(columns)
  const line = progressLine(out)
  for (const subject of ['a-subject-with-a-long-name', 'b']) line.show(step(subject))
  const lines = visible(written.at(-1)!)
  expect(lines).toHaveLength(2)
  for (const text of lines) expect(text.length).toBeLessThan(columns)
})

it.each([
  ['without a terminal', undefined, ''],
  ['in CI', 80, 'true'],
])('writes one line per phase %s', (_, columns, ci) => {
  vi.stubEnv('CI', ci)
  const { written, out } = stream(columns)
  const line = progressLine(out)
  for (const phase of ['starting', 'measuring', 'measuring'] as const) line.show(step('a', phase))
  expect(written).toEqual(['stage 1: starting a 1/8, about 14 s left\n', 'stage 1: measuring a 1/8, about 14 s left\n'])
})

it('writes the first phase of the next race without a terminal', () => {
  const { written, out } = stream(undefined)
  const line = progressLine(out)
  for (const subject of ['a', 'b']) {
    line.show(step(subject))
    line.clear()
  }
  expect(written).toEqual([
    'stage 1: measuring a 1/8, about 14 s left\n',
    'stage 1: measuring b 1/8, about 14 s left\n',
  ])
})

it('shows the CPU per request of each subject, once it has a round', () => {
  const { written, out } = stream(80)
  const line = progressLine(out)
  line.show({ ...step('fastify'), cpu: 11.04 })
  line.show(step('express'))
  line.show({ ...step('express'), cpu: 114.9 })
  expect(visible(written.at(-1)!)).toEqual([
    '  fastify  11.0 µs  stage 1: measuring 1',
    '> express   115 µs  stage 1: measuring 2, about 14 s left',
  ])
})

it('replaces its own lines, and nothing above them', () => {
  const { written, out } = stream(80)
  const line = progressLine(out)
  for (const subject of ['a', 'b', 'a']) line.show(step(subject))
  line.clear()
  line.clear()
  const ups = written
    .join('')
    .split('\u001B[')
    .flatMap((part) => /^(\d+)A/.exec(part)?.[1] ?? [])
    .map(Number)
  // One line, then two, then the two that are removed at the end.
  expect(ups).toEqual([1, 2, 2])
})

it('keeps names of wide characters within the terminal', () => {
  const { written, out } = stream(20)
  progressLine(out).show(step('名前'.repeat(10)))
  const [text] = visible(written.at(-1)!)
  expect(text).toMatch(/^> (?:名前)+名?…$/)
  expect(widthOf(text!)).toBeLessThan(20)
})

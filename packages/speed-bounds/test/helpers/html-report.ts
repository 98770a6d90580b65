// What every HTML report promises.

import { expect } from 'vitest'

export const MAX_SIZE = 300_000

/** Everything in a page that could run or load. */
export const ACTIVE = /<script|<link|<img|<iframe|<object|<base|\son\w+=|(?:src|href)=|url\(|@import/i

/** A name that is markup where it is not escaped, and the escaped one. */
const MARKUP = `"><script>alert(1)</script><img src=x onerror=alert(1)> ' & \``
export const EVIL = '&quot;&gt;&lt;script&gt;'

const TEXTS: ReadonlySet<string> = new Set([
  ...['subject', 'name', 'contender', 'over', 'case', 'command', 'path', 'cpu', 'system', 'commit', 'function', 'file'],
  ...['load', 'message', 'method', 'protocol', 'node'],
])

/** A copy of a document with evil names, paths, commands and messages. */
export function renamed<T extends object>(document: T): T {
  return JSON.parse(JSON.stringify(document), (key, part: unknown) =>
    TEXTS.has(key) && typeof part === 'string' ? MARKUP : part,
  ) as T
}

/** Titles of plots and sections. */
export function titlesOf(page: string): string[] {
  return [...page.matchAll(/<h[24]>([^<]*)<\/h[24]>/g)].map(([, title]) => title!)
}

/** Each plot has its content in words. */
export function describesPlots(page: string, least: number): void {
  const plots = page.match(/<svg\s[^>]*>/g)!.filter((tag) => !/aria-hidden|preserveAspectRatio/.test(tag))
  expect(plots.length).toBeGreaterThanOrEqual(least)
  for (const tag of plots) expect(tag).toMatch(/role="img"\s+aria-label="[^"]{10,}"/)
}

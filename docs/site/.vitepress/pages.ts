import { globSync } from 'node:fs'

/** Pages of the site by their path in the repository. */
const PATTERNS = [
  'README.md',
  'SECURITY.md',
  'docs/*.md',
  'docs/guides/*.md',
  'packages/*/README.md',
  'packages/*/docs/**/*.md',
  'examples/README.md',
  'examples/*/README.md',
]

/** Paths of the pages, relative to the root of the repository. */
export function pages(root: string): ReadonlySet<string> {
  return new Set(globSync(PATTERNS, { cwd: root }).map((path) => path.replaceAll('\\', '/')))
}

/** Path of a page on the site. A README is the page of its folder. */
export function sitePathOf(page: string): string {
  return page.replace(/README\.md$/, 'index.md')
}

/** Pages with another path on the site, as VitePress takes them. */
export function rewrites(root: string): Record<string, string> {
  return Object.fromEntries([...pages(root)].map((page) => [page, sitePathOf(page)]))
}

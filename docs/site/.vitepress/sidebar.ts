import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DefaultTheme } from 'vitepress'
import { sitePathOf } from './pages.ts'

/** The packages that most readers look for. Others follow in the order of their names. */
const FIRST = ['trpc-fastify', 'next-on-fastify', 'aggregator-gateway', 'clustered-server', 'speed-bounds']

/** The menu: a section of each package with its pages, then the pages of the whole. */
export function sidebar(root: string): DefaultTheme.SidebarItem[] {
  const find = (pattern: string): string[] => globSync(pattern, { cwd: root }).toSorted()
  const entries = (pattern: string): DefaultTheme.SidebarItem[] => find(pattern).map((page) => entryOf(root, page))
  const names = find('packages/*/README.md').map((page) => basename(join(page, '..')))
  const packages = [...FIRST, ...names.filter((name) => !FIRST.includes(name))].map((name) => ({
    text: name,
    link: `/packages/${name}/`,
    collapsed: true,
    items: entries(`packages/${name}/docs/**/*.md`),
  }))
  const guides = entries('docs/guides/*.md')
  return [
    { text: 'Packages', items: packages },
    ...(guides.length > 0 ? [{ text: 'Guides', items: guides }] : []),
    { text: 'Examples', collapsed: true, items: entries('examples/*/README.md') },
    { text: 'Project', items: [...entries('docs/*.md'), ...entries('SECURITY.md')] },
  ]
}

function entryOf(root: string, page: string): DefaultTheme.SidebarItem {
  const [, heading] = /^# (.*)$/m.exec(readFileSync(join(root, page), 'utf8')) ?? []
  if (heading === undefined) throw new Error(`${page} has no heading`)
  return { text: heading.replaceAll('`', ''), link: `/${sitePathOf(page).replace(/(index)?\.md$/, '')}` }
}

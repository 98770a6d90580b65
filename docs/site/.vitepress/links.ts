import { posix } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'
import { sitePathOf } from './pages.ts'

/**
 * Makes the links of pages work on the site: those to other pages lead to the site, and those to other files of the
 * repository lead to `repository` (`owner/name` on GitHub). Without a repository they become text.
 */
export function repositoryLinks(
  markdown: MarkdownRenderer,
  pages: ReadonlySet<string>,
  repository: string | undefined,
): void {
  const sources = new Map([...pages].map((page) => [sitePathOf(page), page]))

  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    const source = sources.get((env as { relativePath: string }).relativePath)
    if (source === undefined) return
    for (const { children } of tokens) {
      let isText = false
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const href = siteHref(token.attrGet('href') ?? '', source, pages, repository)
          isText = href === undefined
          if (href !== undefined) token.attrSet('href', href)
        }
        const closes = token.type === 'link_close'
        if (isText && token.type.startsWith('link_')) Object.assign(token, { type: 'text', tag: '', nesting: 0 })
        if (closes) isText = false
      }
    }
  })
}

/** Where a link of a page leads on the site. `undefined` for a file that the site has not. */
function siteHref(
  href: string,
  source: string,
  pages: ReadonlySet<string>,
  repository: string | undefined,
): string | undefined {
  if (/^[a-z]+:|^#/i.test(href)) return href
  const [path = '', anchor = ''] = href.split(/(?=#)/)
  const target = posix.join(posix.dirname(source), decodeURI(path)).replace(/\/$/, '')
  const page = [target, `${target}/README.md`].find((candidate) => pages.has(candidate))
  if (page !== undefined) return `/${sitePathOf(page)}${anchor}`
  return repository && `https://github.com/${repository}/blob/main/${target}${anchor}`
}

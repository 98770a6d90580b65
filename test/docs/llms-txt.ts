// llms.txt lists the documentation for language models, in the form of https://llmstxt.org: titles and first sentences of
// the pages themselves. `node test/docs/llms-txt.ts` writes it.

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Pages by section. Readers with little space leave out the last one. */
const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  Packages: ['packages/*/README.md'],
  Documentation: ['docs/**/*.md', 'packages/*/docs/**/*.md'],
  Examples: ['examples/*/README.md'],
  Optional: ['.github/CONTRIBUTING.md', 'SECURITY.md'],
}

/** The text of all of llms.txt, as the pages below a folder have it. */
export function llmsTxt(root: string = ROOT): string {
  const { title, summary } = pageAt(root, 'README.md')
  const sections = Object.entries(SECTIONS).map(([name, patterns]) => {
    const paths = patterns.flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted())
    return `## ${name}\n\n${paths.map((path) => `${entryOf(root, path.replaceAll('\\', '/'))}\n`).join('')}`
  })
  return [`# ${title}\n`, `> ${summary}\n`, ...sections].join('\n')
}

/** One line of a list: the page, and its first sentence if it begins with one. */
function entryOf(root: string, path: string): string {
  const { title, summary } = pageAt(root, path)
  const [, owner] = /^packages\/([^/]+)\/docs\//.exec(path) ?? []
  const [sentence] = /^.*?\.(?= |$)/.exec(summary) ?? [summary.replace(/:$/, '.')]
  return `- [${owner ? `${owner}: ` : ''}${title}](${path})${sentence ? `: ${sentence}` : ''}`
}

/** The heading of a page and the paragraph right below it, as plain text. */
function pageAt(root: string, path: string): { title: string; summary: string } {
  const text = readFileSync(join(root, path), 'utf8').replaceAll('\r\n', '\n')
  const [, title, paragraph = ''] = /^# (.*)\n+((?!#|```|[|<-])(?:.+\n)+)?/m.exec(text) ?? []
  if (title === undefined) throw new Error(`${path} has no heading`)
  const summary = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return { title, summary }
}

if (import.meta.main) writeFileSync(join(ROOT, 'llms.txt'), llmsTxt())

import { renderMermaidSVG } from 'beautiful-mermaid'
import type { MarkdownRenderer } from 'vitepress'

/** Colors follow the light and the dark theme of the site. */
const COLORS = {
  bg: 'var(--vp-c-bg)',
  fg: 'var(--vp-c-text-1)',
  line: 'var(--vp-c-text-3)',
  accent: 'var(--vp-c-brand-1)',
  muted: 'var(--vp-c-text-2)',
  surface: 'var(--vp-c-bg-soft)',
  border: 'var(--vp-c-divider)',
}

/** Draws code blocks in the language `mermaid` while the site is built. Readers load no library for it. */
export function drawings(markdown: MarkdownRenderer): void {
  const { fence } = markdown.renderer.rules
  markdown.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index]
    if (token?.info.trim() !== 'mermaid') return fence?.(tokens, index, options, env, self) ?? ''
    const svg = renderMermaidSVG(token.content, { ...COLORS, transparent: true, font: 'inherit' })
      // A page loads nothing from other hosts, and this would be the font.
      .replaceAll(/@import url\([^)]*\);/g, '')
    return `<figure class="drawing" tabindex="0" v-html="${attribute(JSON.stringify(svg))}"></figure>\n`
  }
}

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

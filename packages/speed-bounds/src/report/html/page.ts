// The frame of every report: a page without scripts, which loads nothing.

import { html, Markup } from './markup.ts'
import { STYLE } from './style.ts'

/** A page of measurements that ended at this time (ISO 8601). */
export function page(title: string, finishedAt: string, content: readonly (Markup | undefined)[]): Markup {
  const day = finishedAt.slice(0, 16).replace('T', ' ')
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>${title}</title>
        <style>
          ${new Markup(STYLE)}
        </style>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          <p class="soft">Measured by speed-bounds, finished ${day} UTC</p>
          ${content}
        </main>
      </body>
    </html> `
}

/** The command that measures the same again, and what to add to it. */
export function repeatSection(command: string, note?: string): Markup {
  return html`<h2>Repeat it</h2>
    <pre><code>${command}</code></pre>
    ${note === undefined ? undefined : html`<p class="soft">${note}</p>`}`
}

/** Names are text of others: in Markdown they get no HTML, no links, no mentions and no new cells. */
export function markdownText(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[<>&|\\`*_[\]#~]|@(?! )/g, (sign) => {
    if (sign === '<') return '&lt;'
    if (sign === '>') return '&gt;'
    if (sign === '&') return '&amp;'
    // A mention needs its sign right before the name.
    return sign === '@' ? '@\u200B' : `\\${sign}`
  })
}

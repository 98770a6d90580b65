// The views that every kind of result has.

import { comparisonToMarkdown, comparisonToTerminal } from './comparison-tables.ts'
import { toCsv } from './export-csv.ts'
import { functionsToMarkdown, functionsToTerminal } from './function-table.ts'
import { toHtml } from './html/to-html.ts'
import { loadToMarkdown, loadToTerminal } from './load-tables.ts'
import { isFunctions, type ResultDocument } from './result-document.ts'
import { type Place, toMarkdown, toTerminal } from './tables.ts'

/** Formats of files that `speed-bounds` writes beside the JSON. */
export type FileFormat = 'html' | 'markdown' | 'csv'

export const FILE_VIEWS: Readonly<Record<FileFormat, (document: ResultDocument) => string>> = {
  html: toHtml,
  markdown: markdownOf,
  csv: toCsv,
}

/** The tables for a terminal. */
export function terminalOf(document: ResultDocument, place: Place): string {
  if (isFunctions(document)) return functionsToTerminal(document, place)
  if (!('kind' in document)) return toTerminal(document, place)
  return document.kind === 'load' ? loadToTerminal(document, place) : comparisonToTerminal(document, place)
}

function markdownOf(document: ResultDocument): string {
  if (isFunctions(document)) return functionsToMarkdown(document)
  if (!('kind' in document)) return toMarkdown(document)
  return document.kind === 'load' ? loadToMarkdown(document) : comparisonToMarkdown(document)
}

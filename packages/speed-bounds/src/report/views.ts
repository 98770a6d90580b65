// The views that every kind of result has.

import { comparisonToMarkdown, comparisonToTerminal } from './comparison-tables.ts'
import { toCsv } from './export-csv.ts'
import { functionsToMarkdown, functionsToTerminal } from './function-table.ts'
import { toHtml } from './html/to-html.ts'
import { loadToMarkdown, loadToTerminal } from './load-tables.ts'
import { byKind, type ResultDocument } from './result-document.ts'
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
  return byKind(document, {
    race: (result) => toTerminal(result, place),
    comparison: (comparison) => comparisonToTerminal(comparison, place),
    load: (report) => loadToTerminal(report, place),
    functions: (results) => functionsToTerminal(results, place),
  })
}

function markdownOf(document: ResultDocument): string {
  return byKind(document, {
    race: toMarkdown,
    comparison: comparisonToMarkdown,
    load: loadToMarkdown,
    functions: functionsToMarkdown,
  })
}

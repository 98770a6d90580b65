import { byKind, type ResultDocument } from '../result-document.ts'
import { functionsPage } from './functions-page.ts'
import { loadPage } from './load-page.ts'
import { comparisonPage, racePage } from './race-page.ts'

/**
 * A result as one HTML file without scripts. It loads nothing, so that it can be mailed, attached and archived. It takes the
 * result of a race of servers or functions, of `speed-bounds compare` and of a load.
 *
 * @example
 * writeFileSync('report.html', toHtml(await race({ a: './a.ts', b: './b.ts' }, { path: '/' }).measure()))
 */
export function toHtml(document: ResultDocument): string {
  return byKind(document, { race: racePage, comparison: comparisonPage, load: loadPage, functions: functionsPage }).text
}

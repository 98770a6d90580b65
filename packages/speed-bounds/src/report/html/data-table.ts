import { html, type Markup } from './markup.ts'

/** A table of figures, which scrolls where it is wider than the page. */
export function dataTable(head: readonly Markup[], rows: readonly Markup[]): Markup {
  return html`<div class="scroll">
    <table class="data">
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`
}

/** A cell of the head. */
export function headCell(title: string): Markup {
  return html`<th scope="col">${title}</th>`
}

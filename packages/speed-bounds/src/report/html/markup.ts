// Markup from templates. Names and commands are text of others: a template escapes every value that is not markup.

/** Text that is markup already. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Markup | undefined | readonly Value[]

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A template that escapes its values, also for attributes in quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  // Lines of a template are indented for readers of the source, not of the page.
  return new Markup(parts.map((part, index) => part.replaceAll(/\n\s+/g, '\n') + markupOf(values[index])).join(''))
}

function markupOf(value: Value): string {
  if (value === undefined) return ''
  if (value instanceof Markup) return value.text
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return value.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign]!)
  return value.map(markupOf).join('')
}

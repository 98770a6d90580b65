// The list of a call with `forEach`: its items, and the path of the request for each.

import { withQuery } from './forwarded-query.ts'
import type { PathTemplate } from './path-template.ts'
import {
  MissingValueError,
  parsePlaceholders,
  type Placeholder,
  rejectValue,
  valueAt,
  type Values,
} from './placeholders.ts'

export interface ItemList {
  readonly placeholder: Placeholder
  /** Maximum number of running calls. */
  readonly concurrency: number
  readonly maxItems: number
}

/** The path for each item, or why an item has none. */
export type ItemPaths = readonly (string | MissingValueError)[]

/** Parses the placeholder of a list, such as `{calls.orders.items}`. */
export function parseList(
  { items, concurrency, maxItems }: { items: string; concurrency: number; maxItems: number },
  reject: (problem: string) => never,
): ItemList {
  return { placeholder: parsePlaceholders(items, reject).placeholders[0]!, concurrency, maxItems }
}

/**
 * Renders the path for each item. Items that cannot be in a path are missing if they are a call's.
 *
 * @throws AGGREGATOR_GATEWAY_BAD_PARAMETER for a list or an item of the client, MissingValueError for a list of a call
 */
export function renderItems(
  list: ItemList,
  values: Values,
  { path, forwardQuery }: { readonly path: PathTemplate; readonly forwardQuery: readonly string[] },
): ItemPaths {
  return eachItem(list, values, (one) => {
    try {
      const rendered = path.render(one)
      return forwardQuery.length === 0 ? rendered : withQuery(rendered, forwardQuery, one.request.query)
    } catch (cause) {
      if (cause instanceof MissingValueError) return cause
      throw cause
    }
  })
}

/** Calls a function with the values of each item. */
export function eachItem<T>(list: ItemList, values: Values, render: (values: Values) => T): T[] {
  const one = {
    request: values.request,
    callValue: (name: string) => values.callValue(name),
    item: undefined as unknown,
  }
  return itemsOf(list, values).map((item) => {
    one.item = item
    return render(one)
  })
}

function itemsOf({ placeholder, maxItems }: ItemList, values: Values): readonly unknown[] {
  const value = valueAt(placeholder, values)
  // A query parameter is a list only if it is repeated.
  const items = placeholder.source === 'query' && typeof value === 'string' ? [value] : value
  if (items === undefined || items === null) return rejectValue(placeholder, items === null ? 'is null' : 'is missing')
  if (!Array.isArray(items)) return rejectValue(placeholder, 'is no array')
  if (items.length > maxItems) rejectValue(placeholder, `has ${items.length} items, more than maxItems (${maxItems})`)
  return items
}

// Responses that depend on the client in a way that its URL and headers do not show: no shared cache on the way may store them.

import type { PathTemplate } from '../request/path-template.ts'
import type { Placeholder } from '../request/placeholders.ts'
import type { HeaderPlan } from '../request/request-headers.ts'

/** What is known of a client beside its URL and its body. */
const SOURCES: readonly string[] = ['headers', 'user', 'claims'] satisfies Placeholder['source'][]

/** Directives of `cache-control` that let a shared cache store a response, and `private`, which may name single headers. */
const SHARED = ['public', 'private', 's-maxage', 'proxy-revalidate']

/** Headers by which CDNs and proxies are told to store a response. They come before `cache-control`. */
const FOR_CDN = /^(?:(?:.+-)?cdn-cache-control|surrogate-control|edge-control|x-accel-expires)$/

/** A directive with its value, which may be quoted. */
const DIRECTIVE = /[^\s,="]+(?:=(?:"[^"]*"|[^\s,]*))?/g

/** Whether the upstream's request has values of the client that a cache between client and gateway does not know. */
export function dependsOnClient({ sources }: PathTemplate, { templates, make }: HeaderPlan): boolean {
  const all = [...sources, ...templates.flatMap(({ placeholders }) => placeholders.map(({ source }) => source))]
  return make !== undefined || all.some((source) => SOURCES.includes(source))
}

/** The `cache-control` of an upstream, for the client's cache alone. */
export function privateCacheControl(given: string | string[] | undefined): string {
  const directives = String(given ?? '').match(DIRECTIVE) ?? []
  const kept = directives.filter((directive) => !SHARED.includes(directive.split('=', 1)[0]!.toLowerCase()))
  return ['private', ...kept].join(', ')
}

/** Whether a header lets a shared cache store a private response. Its name is in lower case. */
export function isForSharedCaches(name: string): boolean {
  return FOR_CDN.test(name)
}

// Headers of requests that mean something to Next.

/** Headers by which the App Router asks for a part of a page, or for a page to be shown in another one. */
export const ROUTER_HEADERS = [
  'rsc',
  'next-router-state-tree',
  'next-router-prefetch',
  'next-router-segment-prefetch',
  'next-url',
] as const

/** Cookies by which Next shows drafts, and others of its own. */
export const NEXT_COOKIES: RegExp = /__prerender_bypass|__next|next-instant/

/** Headers by which parts of Next, and the platforms that it runs on, talk to each other. */
export function isOfNext(name: string): boolean {
  if (name.startsWith('next-')) return true
  if (!name.startsWith('x-')) return false
  return (
    name.startsWith('x-next') ||
    name.startsWith('x-middleware-') ||
    name.startsWith('x-prerender-') ||
    name.startsWith('x-invo') ||
    name.startsWith('x-now-') ||
    name.startsWith('x-vercel-') ||
    name === 'x-matched-path'
  )
}

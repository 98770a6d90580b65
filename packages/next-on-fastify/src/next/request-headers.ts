// Request headers that Next reads.

/** Headers by which the App Router requests a part of a page, or a page within another one. */
export const RSC_REQUEST_HEADERS = [
  'rsc',
  'next-router-state-tree',
  'next-router-prefetch',
  'next-router-segment-prefetch',
  'next-url',
] as const

/** Cookies of draft mode, and other cookies of Next. */
export const NEXT_COOKIES: RegExp = /__prerender_bypass|__next|next-instant/

/** Whether a header is internal to Next or to a platform that runs it. */
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

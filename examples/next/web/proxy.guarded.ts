import { type NextRequest, NextResponse } from 'next/server'
import { renderOf } from './renders'

/** Says how often it has run, keeps out who has no session, and leads some elsewhere. */
export function proxy(request: NextRequest): NextResponse {
  const response = decided(request)
  response.headers.set('x-proxy-count', String(renderOf('proxy')))
  if (request.nextUrl.searchParams.has('cookie')) response.cookies.set('seen', 'yes')
  return response
}

function decided(request: NextRequest): NextResponse {
  const { pathname } = request.nextUrl
  if (pathname.endsWith('/guarded') && !request.cookies.has('session')) {
    return new NextResponse('Who are you?', { status: 401 })
  }
  if (pathname.endsWith('/proxied/rewritten')) return NextResponse.rewrite(new URL('/static', request.url))
  if (pathname.endsWith('/proxied/redirected')) return NextResponse.redirect(new URL('/static', request.url))
  if (pathname.endsWith('/ssr')) return told(request)
  return decisions[request.headers.get('x-decide') ?? '']?.(request) ?? NextResponse.next()
}

/** Passes a request header to the page. */
function told(request: NextRequest): NextResponse {
  const headers = new Headers(request.headers)
  headers.set('x-from-proxy', request.nextUrl.pathname)
  return NextResponse.next({ request: { headers } })
}

/** Next may ask itself for the new address, and then the proxy runs again: for the second time it lets it pass. */
function rewritten(request: NextRequest, to: string): NextResponse {
  const headers = new Headers(request.headers)
  headers.delete('x-decide')
  return NextResponse.rewrite(new URL(to, request.url), { request: { headers } })
}

/** Other decisions of middleware, on request. */
const decisions: Record<string, (request: NextRequest) => NextResponse> = {
  request: told,
  plain: (request) => {
    const headers = new Headers(request.headers)
    headers.delete('accept-encoding')
    headers.delete('if-none-match')
    return NextResponse.next({ request: { headers } })
  },
  header: (request) => NextResponse.next({ headers: { 'x-value': request.headers.get('x-value') ?? 'none' } }),
  lifetime: () => NextResponse.next({ headers: { 'cache-control': 'private, max-age=7' } }),
  vary: () => NextResponse.next({ headers: { vary: 'x-value' } }),
  etag: () => NextResponse.next({ headers: { etag: '"of the proxy"' } }),
  type: () => NextResponse.next({ headers: { 'content-type': 'text/plain' } }),
  encoding: () => NextResponse.next({ headers: { 'content-encoding': 'identity' } }),
  rsc: () => NextResponse.next({ headers: { rsc: '1' } }),
  draft: () => NextResponse.next({ headers: { cookie: '__prerender_bypass=1' } }),
  status: () => NextResponse.next({ status: 203 }),
  rewrite: (request) => rewritten(request, '/isr'),
  query: (request) => rewritten(request, `${request.nextUrl.pathname}?a=1`),
  redirect: (request) => NextResponse.redirect(new URL('/isr', request.url)),
  answer: () => NextResponse.json({ answer: 'of the proxy' }, { status: 403 }),
  throw: () => {
    throw new Error('Thrown by the proxy')
  },
}

export const config = {
  matcher: [
    '/guarded',
    '/proxied/:path*',
    '/isr',
    '/posts/:path*',
    '/old/:path*',
    '/handlers/cached',
    '/small.txt',
    '/api/:path*',
    '/ssr',
    { source: '/tagged', missing: [{ type: 'header', key: 'x-unseen' }] },
  ],
}

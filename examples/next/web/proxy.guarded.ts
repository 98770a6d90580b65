import { type NextRequest, NextResponse } from 'next/server'
import { renderOf } from './renders'

/** Says how often it has run, keeps out who has no session, and leads some elsewhere. */
export function proxy(request: NextRequest): NextResponse {
  const { pathname } = request.nextUrl
  const count = String(renderOf('proxy'))
  if (pathname.endsWith('/guarded') && !request.cookies.has('session')) {
    return new NextResponse('Who are you?', { status: 401, headers: { 'x-proxy-count': count } })
  }
  if (pathname.endsWith('/proxied/rewritten')) {
    return NextResponse.rewrite(new URL('/static', request.url), { headers: { 'x-proxy-count': count } })
  }
  if (pathname.endsWith('/proxied/redirected')) {
    return NextResponse.redirect(new URL('/static', request.url), { headers: { 'x-proxy-count': count } })
  }
  const headers = new Headers(request.headers)
  headers.set('x-from-proxy', pathname)
  const response = NextResponse.next({ request: { headers } })
  response.headers.set('x-proxy-count', count)
  if (request.nextUrl.searchParams.has('cookie')) response.cookies.set('seen', 'yes')
  return response
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
  ],
}

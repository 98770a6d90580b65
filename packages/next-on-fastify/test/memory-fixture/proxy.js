import { NextResponse } from 'next/server'

export const config = {
  matcher: [
    '/guarded/:path*',
    '/dynamic',
    '/behind/:path*',
    { source: '/sometimes', missing: [{ type: 'header', key: 'x-unseen' }] },
  ],
}

/** Where `next-on-fastify/request` finds the request of Fastify. */
const ASKED = Symbol.for('next-on-fastify.asked-request')

let runs = 0

/** Does what the request asks for, and says how often it was asked. */
export default function decide(request) {
  runs++
  const response = decisions[request.headers.get('x-decide')]?.(request) ?? guarded(request)
  response.headers.set('x-proxy-runs', String(runs))
  return response
}

function guarded(request) {
  const isAllowed = !request.nextUrl.pathname.includes('guarded') || request.cookies.has('user')
  return isAllowed ? NextResponse.next() : new NextResponse('Who are you?', { status: 401 })
}

const next = (headers) => NextResponse.next({ headers })

/** What a proxy can know of a request. */
function seen({ method, url, nextUrl, headers, cookies, body, geo, ip }) {
  const { href, pathname, search, locale, defaultLocale, buildId, basePath, trailingSlash } = nextUrl
  const ofUrl = { href, pathname, search, locale, defaultLocale, buildId, basePath, trailingSlash }
  return { method, url, ofUrl, headers: [...headers], cookies: cookies.getAll(), body, geo, ip }
}

const decisions = {
  header: (request) => next({ 'x-of-proxy': request.headers.get('x-value') }),
  seen: (request) => next({ 'x-seen': JSON.stringify(seen(request)) }),
  fastify: () => next({ 'x-of-fastify': globalThis[ASKED]?.getStore()?.request.id ?? 'nothing' }),
  lifetime: () => next({ 'cache-control': 'private, max-age=7' }),
  vary: () => next({ vary: 'x-value' }),
  etag: () => next({ etag: '"of the proxy"' }),
  type: () => next({ 'content-type': 'text/plain' }),
  encoding: () => next({ 'content-encoding': 'identity' }),
  rsc: () => next({ rsc: '1' }),
  draft: () => next({ cookie: '__prerender_bypass=1' }),
  status: () => NextResponse.next({ status: 203 }),
  cookie: () => {
    const response = NextResponse.next()
    response.cookies.set('seen', 'yes')
    return response
  },
  request: (request) => {
    const headers = new Headers(request.headers)
    headers.set('x-of-proxy', 'yes')
    headers.delete('accept-encoding')
    return NextResponse.next({ request: { headers } })
  },
  rewrite: (request) => NextResponse.rewrite(new URL('/plain', request.url)),
  redirect: (request) => NextResponse.redirect(new URL('/plain', request.url)),
  answer: () => NextResponse.json({ answer: 'of the proxy' }, { status: 403 }),
  throw: () => {
    throw new Error('Thrown by the proxy')
  },
}

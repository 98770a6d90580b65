import { NextResponse } from 'next/server'

export const config = { matcher: ['/guarded/:path*', '/dynamic'] }

export function proxy(request) {
  globalThis.proxyRuns = (globalThis.proxyRuns ?? 0) + 1
  return request.cookies.has('user') ? NextResponse.next() : new NextResponse('Who are you?', { status: 401 })
}

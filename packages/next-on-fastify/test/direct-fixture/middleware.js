import { NextResponse } from 'next/server'

export function middleware(request) {
  if (request.cookies.get('session') === undefined) return new NextResponse('Who are you?', { status: 401 })
  return NextResponse.next({ headers: { 'x-seen': 'yes' } })
}

export const config = { matcher: ['/guarded/:path*', '/api/guarded'] }

import { fastifyRequest } from 'next-on-fastify/request'
import { NextResponse, type NextRequest } from 'next/server'

/** Runs before the pages below, also before cached ones. The session plugin of Fastify has read the cookie. */
export async function proxy(request: NextRequest): Promise<NextResponse> {
  const { user } = await fastifyRequest()
  if (!user) return NextResponse.redirect(new URL('/sign-in', request.url))
  // Caches outside of this server would serve the page without asking this function.
  return NextResponse.next({ headers: { 'cache-control': 'private, no-store' } })
}

export const config = { matcher: ['/dashboard', '/handbook', '/catalog/edit'] }

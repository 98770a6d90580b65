import { fastifyRequest } from 'next-on-fastify/request'
import { NextResponse, type NextRequest } from 'next/server'

/** Runs before the pages below, also before cached ones. The session plugin of Fastify has read the cookie. */
export async function proxy(request: NextRequest): Promise<NextResponse> {
  const { user } = await fastifyRequest()
  // Caches outside of this server would serve both without asking this function: the page to guests, the redirect to users.
  const headers = { 'cache-control': 'private, no-store' }
  return user ? NextResponse.next({ headers }) : NextResponse.redirect(new URL('/sign-in', request.url), { headers })
}

export const config = { matcher: ['/dashboard', '/handbook', '/catalog/edit'] }

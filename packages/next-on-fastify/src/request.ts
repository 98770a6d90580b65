// The public subpath `next-on-fastify/request`: code that Next runs gets the Fastify request by it.

import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { headers } from 'next/headers.js'
import { connection } from 'next/server.js'
import { currentRequest } from './async-context/current-request.ts'
import { NoRequestError } from './errors.ts'

const OUTSIDE = 'No request of Fastify: expected code that Next runs for a request of next-on-fastify.'
const STATIC = 'No request of Fastify: expected code that is rendered for each request, got `dynamic = "force-static"`.'
const OTHER = 'No request of Fastify: expected the request that Next passed to this code, got another one.'

/**
 * Returns the current Fastify request, with all properties that hooks and plugins of the app have set. For pages, route
 * handlers and server actions of the App Router, and for `proxy.ts` on Node.
 *
 * It calls Next's `connection()` first, so Next renders the caller for each request and never caches it. It throws where
 * `connection()` throws: outside of requests, in cached functions and in `after()` of a page.
 *
 * @throws NEXT_ON_FASTIFY_NO_REQUEST
 *
 * @example
 * const { user } = await fastifyRequest()
 */
export async function fastifyRequest(): Promise<FastifyRequest> {
  await connection()
  // With `force-static`, `connection()` does nothing and Next shows no headers, because the page is the same for all.
  if ((await headers()).keys().next().done === true) throw new NoRequestError(STATIC)
  const current = currentRequest()
  if (current === undefined) throw new NoRequestError(OUTSIDE)
  return current.request
}

/**
 * Returns the Fastify request for the request that Next passes to the Pages Router: in `getServerSideProps`,
 * `getInitialProps` and API routes.
 *
 * @throws NEXT_ON_FASTIFY_NO_REQUEST
 *
 * @example
 * export const getServerSideProps = async ({ req }) => ({ props: { user: fastifyRequestOf(req).user } })
 */
export function fastifyRequestOf(message: IncomingMessage): FastifyRequest {
  const current = currentRequest()
  if (current === undefined) throw new NoRequestError(OUTSIDE)
  if (current.message !== message) throw new NoRequestError(OTHER)
  return current.request
}

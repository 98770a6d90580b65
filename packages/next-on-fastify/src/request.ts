import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { headers } from 'next/headers.js'
import { connection } from 'next/server.js'
import { askedRequest } from './async-context/current-request.ts'
import { NoRequestError } from './errors.ts'

const NOBODY = 'expected code that next-on-fastify has run by Next for one of its requests, got code that runs for none'
const EVERYBODY = 'expected code that is rendered for each request, got code of which `dynamic` is "force-static"'
const ANOTHER = 'expected the request that Next has given, got another one'

/**
 * The request of Fastify that is being answered, with what hooks and plugins of the app have put on it: for pages, route
 * handlers and actions of the App Router, and for `proxy.ts`, where Node runs them.
 *
 * Calls Next's `connection()` first. So what asks for it is rendered for each request and never kept, and it cannot be had where
 * that cannot be called, such as in what Next caches, and in `after()`.
 *
 * @throws NEXT_ON_FASTIFY_NO_REQUEST
 *
 * @example
 * const { user } = await fastifyRequest()
 */
export async function fastifyRequest(): Promise<FastifyRequest> {
  await connection()
  // With `force-static` it does nothing, and Next shows no headers, for what is rendered then is everybody's.
  if ((await headers()).keys().next().done === true) throw new NoRequestError(EVERYBODY)
  const asked = askedRequest()
  if (asked === undefined) throw new NoRequestError(NOBODY)
  return asked.request
}

/**
 * The request of Fastify for that of Node which Next has given to the Pages Router: in `getServerSideProps`, `getInitialProps`
 * and API routes.
 *
 * @throws NEXT_ON_FASTIFY_NO_REQUEST
 *
 * @example
 * export const getServerSideProps = async ({ req }) => ({ props: { user: fastifyRequestOf(req).user } })
 */
export function fastifyRequestOf(message: IncomingMessage): FastifyRequest {
  const asked = askedRequest()
  if (asked === undefined) throw new NoRequestError(NOBODY)
  if (asked.message !== message) throw new NoRequestError(ANOTHER)
  return asked.request
}

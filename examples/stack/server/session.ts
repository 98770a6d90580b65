import cookie from '@fastify/cookie'
import fp from 'fastify-plugin'

export interface User {
  readonly name: string
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who has signed in; `null` for a guest. */
    user: User | null
  }
  interface FastifyReply {
    signIn: (user: User) => void
    signOut: () => void
  }
}

const COOKIE = 'session'
/** Seconds. */
const LIFETIME = 12 * 60 * 60

/** Sessions in signed cookies: every worker and every host with the same secret knows who has signed in. */
export const session = fp<{ secret: string }>(async (app, { secret }) => {
  await app.register(cookie, { secret })
  app.decorateRequest('user', null)
  app.addHook('onRequest', async (request) => {
    const { valid, value } = request.unsignCookie(request.cookies[COOKIE] ?? '')
    if (valid) request.user = userOf(value)
  })
  app.decorateReply('signIn', function ({ name }) {
    const expires = Date.now() + LIFETIME * 1000
    // A value by which JavaScript and other sites cannot act: `lax` sends it with links to this site, and no form or fetch.
    const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: 'auto', signed: true } as const
    this.setCookie(COOKIE, `${expires}.${name}`, { ...attributes, maxAge: LIFETIME })
  })
  app.decorateReply('signOut', function () {
    this.clearCookie(COOKIE, { path: '/' })
  })
})

/** The browser forgets a cookie in time; a copy of it ends here. */
function userOf(value: string): User | null {
  const dot = value.indexOf('.')
  return Number(value.slice(0, dot)) > Date.now() ? { name: value.slice(dot + 1) } : null
}

// Visitors of examples/stack, who check that all they get is their own.

import assert from 'node:assert/strict'
import type { Agent } from 'node:http'
import { type Response, send } from './client.ts'

export interface Credentials {
  readonly name: string
  readonly password: string
}

export interface Visitor {
  /** One request of each kind. Rejects if a response is not the right one. */
  visit: () => Promise<void>
}

/** A user who has signed in. */
export class User implements Visitor {
  readonly name: string
  readonly #origin: string
  readonly #cookie: string
  readonly #others: readonly string[]
  readonly #agent: Agent
  /** Orders that this user has placed. */
  ordered = 0

  private constructor(name: string, origin: string, cookie: string, others: readonly string[], agent: Agent) {
    this.name = name
    this.#origin = origin
    this.#cookie = cookie
    this.#others = others
    this.#agent = agent
  }

  static async signIn(origin: string, { name, password }: Credentials, others: string[], agent: Agent): Promise<User> {
    const { status, headers } = await send(`${origin}/trpc/session.signIn`, { json: { name, password }, agent })
    assert.equal(status, 200)
    const [cookie = ''] = headers['set-cookie'] ?? []
    assert.match(cookie, /; HttpOnly; SameSite=Lax$/)
    return new User(name, origin, cookie.split(';')[0]!, others, agent)
  }

  async visit(): Promise<void> {
    const page = await this.#get('/dashboard')
    assert.match(page.body, word(`Dashboard of ${this.name}`))
    const composed = JSON.parse((await this.#get('/api/dashboard')).body) as Dashboard
    assert.equal(composed.profile.name, this.name)
    this.#expectOwn(composed.orders)
    const batch = await this.#get('/trpc/session.user,orders.list?batch=1')
    const [user, orders] = (JSON.parse(batch.body) as [Result<{ name: string }>, Result<Orders>]).map(
      ({ result }) => result.data,
    ) as [{ name: string }, Orders]
    assert.equal(user.name, this.name)
    this.#expectOwn(orders)
    assert.match((await this.#get('/handbook')).body, word('For staff only'))
    await this.order()
  }

  async order(): Promise<void> {
    const json = { product: `${this.name} ${this.ordered + 1}` }
    const { status } = await this.#send('/trpc/orders.place', json)
    assert.equal(status, 200)
    this.ordered++
  }

  async orderCount(): Promise<number> {
    const { body } = await this.#get('/api/dashboard')
    return (JSON.parse(body) as Dashboard).orders.count
  }

  async #get(path: string): Promise<Response> {
    const response = await this.#send(path)
    assert.deepEqual([path, response.status], [path, 200])
    for (const other of this.#others) assert.doesNotMatch(response.body, word(other))
    return response
  }

  #send(path: string, json?: unknown): Promise<Response> {
    return send(this.#origin + path, { headers: { cookie: this.#cookie }, json, agent: this.#agent })
  }

  #expectOwn({ latest }: Orders): void {
    for (const { product } of latest) assert.equal(product.split(' ')[0], this.name)
  }
}

interface Orders {
  readonly count: number
  readonly latest: readonly { readonly product: string }[]
}

interface Dashboard {
  readonly profile: { readonly name: string }
  readonly orders: Orders
}

interface Result<T> {
  readonly result: { readonly data: T }
}

/** Not as a part of another word, as in `metadata`. */
function word(text: string): RegExp {
  return new RegExp(`\\b${text}\\b`)
}

/** Nobody in particular, with a cookie that nobody has signed. */
export function guest(origin: string, users: readonly string[], agent: Agent): Visitor {
  const headers = { cookie: `session=${Date.now() + 1_000_000}.${users[0]}.Zm9yZ2Vk` }
  const expected = {
    '/': 200,
    '/catalog': 200,
    '/handbook': 307,
    '/dashboard': 307,
    '/catalog/edit': 307,
    '/api/dashboard': 401,
    '/trpc/orders.list': 401,
  }
  return {
    visit: async () => {
      for (const [path, status] of Object.entries(expected)) {
        const response = await send(origin + path, { headers, agent })
        assert.deepEqual([path, response.status], [path, status])
        for (const text of [...users, 'For staff only']) assert.doesNotMatch(response.body, word(text))
      }
    },
  }
}

/** Lets visitors visit until the end, each again and again. */
export function startVisits(visitors: readonly Visitor[]): {
  visits: () => number
  failures: readonly string[]
  end: () => Promise<void>
} {
  const over = new AbortController()
  const failures: string[] = []
  let visits = 0
  const running = visitors.map(async (visitor) => {
    while (!over.signal.aborted) {
      await visitor.visit().catch((error: unknown) => failures.push(String(error).slice(0, 500)))
      visits++
    }
  })
  return {
    visits: () => visits,
    failures,
    end: async () => {
      over.abort()
      await Promise.all(running)
    },
  }
}

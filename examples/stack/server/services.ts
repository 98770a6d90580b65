import { TRPCError } from '@trpc/server'
import { settings } from './settings.ts'
import type { User } from './session.ts'

export interface Order {
  readonly id: number
  readonly product: string
  readonly placedAt: string
}

/** The user with this name and password; `null` if there is none. */
export async function checkPassword(name: string, password: string): Promise<User | null> {
  const response = await fetch(`${settings.accountsUrl}/sign-in`, post({ name, password }))
  return response.status === 401 ? null : bodyOf(response)
}

export async function placeOrder(user: User, product: string): Promise<Order> {
  return bodyOf(await fetch(`${settings.ordersUrl}/orders`, post({ user: user.name, product })))
}

export async function ordersOf(user: User): Promise<{ count: number; latest: Order[] }> {
  return bodyOf(await fetch(`${settings.ordersUrl}/orders?user=${encodeURIComponent(user.name)}`))
}

/** Number of the last order; 0 before the first. */
export async function lastOrder(user: User): Promise<number> {
  const { latest } = await ordersOf(user)
  return latest[0]?.id ?? 0
}

/** Waits for orders with a higher number, for some seconds. */
export async function ordersAfter(user: User, last: number, signal: AbortSignal): Promise<Order[]> {
  const query = new URLSearchParams({ user: user.name, after: String(last) })
  return bodyOf(await fetch(`${settings.ordersUrl}/events?${query.toString()}`, { signal }))
}

function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

async function bodyOf<T>(response: Response): Promise<T> {
  if (response.ok) return (await response.json()) as T
  throw new TRPCError({ code: 'BAD_GATEWAY', message: `The service responded ${response.status}.` })
}

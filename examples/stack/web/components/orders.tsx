'use client'

import { type ReactNode, useActionState, useEffect, useState } from 'react'
import type { Order } from '../../server/services.ts'
import { textOf } from '../form-data'
import { trpc } from '../trpc'

const SHOWN = 50

/** The orders of the user, and new ones as they are placed, in any window. */
export function Orders(): ReactNode {
  const [orders, setOrders] = useState<readonly Order[]>([])
  const [problem, place, isPending] = useActionState(placeOrder, '')
  useEffect(() => {
    const add = (more: readonly Order[]): void => setOrders((known) => merged(known, more))
    const list = (): void => void trpc.orders.list.query().then(({ latest }) => add(latest), console.error)
    const watching = trpc.orders.watch.subscribe(undefined, {
      // The first event has no order. Listed before it, an order placed in between would be in neither.
      onData: ({ data }) => (data ? add([data]) : list()),
      onError: console.error,
    })
    return () => watching.unsubscribe()
  }, [])
  return (
    <section className="card">
      <h2>Orders</h2>
      <form action={place} className="row">
        <label>
          Product
          <input name="product" maxLength={64} required />
        </label>
        <button type="submit" disabled={isPending}>
          Order
        </button>
      </form>
      <output>{problem}</output>
      <ol id="orders" reversed>
        {orders.map(({ id, product, placedAt }) => (
          <li key={id}>
            {product} <time dateTime={placedAt}>{placedAt.slice(11, 19)}</time>
          </li>
        ))}
      </ol>
    </section>
  )
}

async function placeOrder(_previous: string, data: FormData): Promise<string> {
  try {
    await trpc.orders.place.mutate({ product: textOf(data, 'product') })
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The newest first, each once: the list and the subscription may bring the same. */
function merged(known: readonly Order[], more: readonly Order[]): readonly Order[] {
  const all = new Map([...known, ...more].map((order) => [order.id, order]))
  return [...all.values()].toSorted((one, other) => other.id - one.id).slice(0, SHOWN)
}

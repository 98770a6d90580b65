import Link from 'next/link'
import type { ReactNode } from 'react'
import { inEuros, products } from '../../catalog'

/** Seconds. A changed price revalidates the page at once. */
export const revalidate = 3600

export default async function Catalog(): Promise<ReactNode> {
  const all = await products()
  return (
    <>
      <h1>Catalog</h1>
      <ul className="cards">
        {all.map(({ id, name, price }) => (
          <li key={id} data-product={id}>
            <h2>{name}</h2>
            <p className="price">{inEuros(price)}</p>
          </li>
        ))}
      </ul>
      <p className="note">
        Rendered at <time>{new Date().toISOString()}</time>.{' '}
        <Link href="/catalog/edit" prefetch={false}>
          Change prices
        </Link>
      </p>
    </>
  )
}

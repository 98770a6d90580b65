import Link from 'next/link'
import type { ReactNode } from 'react'

const pages = [
  ['/catalog', 'Cached', 'Rendered again only after a price has changed.'],
  ['/handbook', 'Cached behind middleware', 'The same for everyone who has signed in. Guests never get it.'],
  ['/dashboard', 'Personal', 'Rendered for each request, with data of the gateway and of tRPC.'],
  ['/catalog/edit', 'Server action', 'Changes a price and revalidates the catalog, on all workers.'],
] as const

export default function Home(): ReactNode {
  return (
    <>
      <h1>Furniture for quiet rooms</h1>
      <p>One Fastify server with a Next app, a tRPC API and a gateway. Each page shows one way to serve it.</p>
      <ul className="cards">
        {pages.map(([path, title, text]) => (
          <li key={path}>
            <h2>
              <Link href={path} prefetch={false}>
                {title}
              </Link>
            </h2>
            <p>{text}</p>
          </li>
        ))}
      </ul>
    </>
  )
}

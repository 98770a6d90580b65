import Image from 'next/image'
import Link from 'next/link'
import type { ReactNode } from 'react'

const pages = ['static', 'isr', 'ssr', 'streaming', 'posts/first', 'photos', 'form', 'client', 'old/static', 'old/ssr']

export default function Home(): ReactNode {
  return (
    <main>
      <h1>Home</h1>
      <Image src="/generated/picture.png" alt="A picture" width={64} height={64} />
      <ul>
        {pages.map((page) => (
          <li key={page}>
            <Link href={`/${page}`}>{page}</Link>
          </li>
        ))}
      </ul>
    </main>
  )
}

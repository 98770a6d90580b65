import Link from 'next/link'
import type { ReactNode } from 'react'

export default function List(): ReactNode {
  return (
    <main>
      <h1>Photos</h1>
      <Link href="/photos/1">Photo 1</Link> <Link href="/photos/2">Photo 2</Link>
    </main>
  )
}

import Link from 'next/link'
import type { ReactNode } from 'react'

const paths = ['/static', '/cached', '/partial', '/posts/first', '/form', '/old/static']

export default function Home(): ReactNode {
  return (
    <nav>
      {paths.map((path) => (
        <Link key={path} href={path}>
          {path}
        </Link>
      ))}
    </nav>
  )
}

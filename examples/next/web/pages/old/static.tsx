import Link from 'next/link'
import type { ReactNode } from 'react'
import { prose } from '../../content'

export default function Static(): ReactNode {
  return (
    <main>
      <h1>Static, by the Pages Router</h1>
      {prose(20).map((text) => (
        <p key={text}>{text}</p>
      ))}
      <Link href="/old/ssr">SSR</Link> <Link href="/old/generated">Generated</Link>
    </main>
  )
}

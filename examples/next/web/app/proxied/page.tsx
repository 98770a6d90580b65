import type { ReactNode } from 'react'
import { prose } from '../../content'

/** Rendered at build, behind the proxy. */
export default function Proxied(): ReactNode {
  return (
    <main>
      <h1>Behind the proxy</h1>
      {prose(20).map((text) => (
        <p key={text}>{text}</p>
      ))}
    </main>
  )
}

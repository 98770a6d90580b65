import type { ReactNode } from 'react'

/** Rendered at build, and for those whom the proxy lets through. */
export default function Guarded(): ReactNode {
  return <h1>A secret</h1>
}

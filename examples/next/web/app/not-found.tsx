import type { ReactNode } from 'react'

export default function NotFound(): ReactNode {
  return <h1>There is nothing here</h1>
}

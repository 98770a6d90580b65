import type { ReactNode } from 'react'

export default function Loading(): ReactNode {
  return <p>Loading</p>
}

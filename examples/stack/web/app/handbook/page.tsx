import type { ReactNode } from 'react'

export default function Handbook(): ReactNode {
  return (
    <>
      <h1>Handbook</h1>
      <p>For staff only. This page was rendered at build and is cached, but middleware runs before each response.</p>
      <h2>Returns</h2>
      <p>We take everything back within 60 days. Send a van for tables.</p>
      <h2>Damaged goods</h2>
      <p>Replace first, ask later. Photos help the workshop.</p>
    </>
  )
}

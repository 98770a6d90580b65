'use client'

import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { type ReactNode, useState } from 'react'

export default function Client(): ReactNode {
  const router = useRouter()
  const [count, setCount] = useState(0)
  return (
    <main>
      <h1>Client</h1>
      <button type="button" onClick={() => setCount(count + 1)}>
        Clicks: {count}
      </button>
      <button type="button" onClick={() => router.refresh()}>
        Refresh
      </button>
      <Link href="/">Home</Link>
    </main>
  )
}

'use client'

import type { ReactNode } from 'react'

export default function ErrorPage(): ReactNode {
  return <h1>Something is broken</h1>
}

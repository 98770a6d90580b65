import { setTimeout } from 'node:timers/promises'
import { headers } from 'next/headers'
import { Suspense } from 'react'

async function Late() {
  await headers()
  await setTimeout(100)
  return <p>late</p>
}

export default async function Page() {
  await headers()
  return (
    <Suspense fallback={<p>soon</p>}>
      <Late />
    </Suspense>
  )
}

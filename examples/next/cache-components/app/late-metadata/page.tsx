import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { connection } from 'next/server'
import { type ReactNode, Suspense } from 'react'

/** Known at request time: a client that reads only the head has to wait for it. */
export async function generateMetadata(): Promise<Metadata> {
  return { title: `Of ${(await cookies()).get('session')?.value ?? 'nobody'}` }
}

async function Marker(): Promise<ReactNode> {
  await connection()
  return null
}

export default function LateMetadata(): ReactNode {
  return (
    <main>
      <h1>Late metadata</h1>
      <Suspense>
        <Marker />
      </Suspense>
    </main>
  )
}

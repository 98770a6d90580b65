import { connection } from 'next/server'
import { type ReactNode, Suspense } from 'react'
import { setTimeout } from 'node:timers/promises'

async function Late({ milliseconds }: { milliseconds: number }): Promise<ReactNode> {
  await connection()
  await setTimeout(milliseconds)
  return <p className="late">After {milliseconds} ms</p>
}

export default function Streaming(): ReactNode {
  return (
    <main>
      <h1>Streaming</h1>
      <Suspense fallback={<p>Waiting for the first</p>}>
        <Late milliseconds={100} />
      </Suspense>
      <Suspense fallback={<p>Waiting for the second</p>}>
        <Late milliseconds={300} />
      </Suspense>
    </main>
  )
}

import { cookies } from 'next/headers'
import { connection } from 'next/server'
import { type ReactNode, Suspense } from 'react'
import { renderOf } from '../../../web/renders'
import { numbers } from '../../numbers'

async function Visitor(): Promise<ReactNode> {
  const name = (await cookies()).get('session')?.value ?? 'nobody'
  return <p>For {name}</p>
}

async function Fresh(): Promise<ReactNode> {
  await connection()
  return <p>Fresh render {renderOf('partial')}</p>
}

/** A shell that was made at build, and two holes in it that are filled for each request. */
export default async function Partial(): Promise<ReactNode> {
  return (
    <main>
      <h1>Numbers {await numbers()}</h1>
      <Suspense fallback={<p>Who is it?</p>}>
        <Visitor />
      </Suspense>
      <Suspense fallback={<p>Wait</p>}>
        <Fresh />
      </Suspense>
    </main>
  )
}

import { type ReactNode, Suspense } from 'react'
import { cookies } from 'next/headers'

async function Name(): Promise<ReactNode> {
  return <b>{(await cookies()).get('session')?.value ?? 'nobody'}</b>
}

export default function Layout({ children }: { children: ReactNode }): ReactNode {
  return (
    <section>
      <Suspense fallback={<i>Somebody</i>}>
        <Name />
      </Suspense>
      {children}
    </section>
  )
}

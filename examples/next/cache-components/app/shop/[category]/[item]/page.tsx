import { cookies } from 'next/headers'
import { type ReactNode, Suspense } from 'react'

interface Props {
  params: Promise<{ category: string; item: string }>
}

export const generateStaticParams = (): { category: string; item: string }[] => [{ category: 'books', item: 'one' }]

async function Item({ params }: Props): Promise<ReactNode> {
  const { category, item } = await params
  return (
    <p>
      {category} {item}
    </p>
  )
}

async function Basket(): Promise<ReactNode> {
  return <p>Basket of {(await cookies()).get('session')?.value ?? 'nobody'}</p>
}

/** A shell for each item, with a hole in it. */
export default function Shop({ params }: Props): ReactNode {
  return (
    <main>
      <Suspense fallback={<p>An item comes</p>}>
        <Item params={params} />
      </Suspense>
      <Suspense fallback={<p>A basket comes</p>}>
        <Basket />
      </Suspense>
    </main>
  )
}

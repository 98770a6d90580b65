import { type ReactNode, Suspense } from 'react'

interface Props {
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

async function Found({ searchParams }: Props): Promise<ReactNode> {
  return <p>Found {JSON.stringify(await searchParams)}</p>
}

export default function Search({ searchParams }: Props): ReactNode {
  return (
    <Suspense fallback={<p>Searching</p>}>
      <Found searchParams={searchParams} />
    </Suspense>
  )
}

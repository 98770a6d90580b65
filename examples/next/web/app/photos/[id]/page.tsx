import type { ReactNode } from 'react'

export const generateStaticParams = (): { id: string }[] => [{ id: '1' }]

export default async function Photo({ params }: { params: Promise<{ id: string }> }): Promise<ReactNode> {
  return <h1>Photo {(await params).id} on a page of its own</h1>
}

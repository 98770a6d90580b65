import type { ReactNode } from 'react'
import { prose } from '../../../content'

export const revalidate = 2592000

/** None at build: each is made when it is first asked for, and kept from then on. */
export const generateStaticParams = (): { page: string }[] => []

export default async function Many({ params }: { params: Promise<{ page: string }> }): Promise<ReactNode> {
  return (
    <main>
      <h1>Page {(await params).page} of many</h1>
      {prose(20).map((text) => (
        <p key={text}>{text}</p>
      ))}
    </main>
  )
}

import type { ReactNode } from 'react'

export const dynamicParams = false

export const generateStaticParams = (): { slug: string }[] => [{ slug: 'a' }, { slug: 'b' }]

export default async function Fixed({ params }: { params: Promise<{ slug: string }> }): Promise<ReactNode> {
  return <p>Fixed {(await params).slug}</p>
}

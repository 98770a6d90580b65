import { notFound } from 'next/navigation'
import type { ReactNode } from 'react'
import { renderOf } from '../../../renders'

export const revalidate = 2592000

interface Props {
  params: Promise<{ slug: string }>
}

export const generateStaticParams = (): { slug: string }[] =>
  ['first', 'second', 'with space', 'grüße', '100%'].map((slug) => ({ slug }))

export async function generateMetadata({ params }: Props): Promise<{ title: string }> {
  return { title: (await params).slug }
}

export default async function Post({ params }: Props): Promise<ReactNode> {
  const { slug } = await params
  if (slug === 'nothing') notFound()
  return (
    <p>
      Post {slug}, render {renderOf(`post ${slug}`)}
    </p>
  )
}

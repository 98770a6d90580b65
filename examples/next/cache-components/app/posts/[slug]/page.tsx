import { cacheLife, cacheTag } from 'next/cache'
import { notFound } from 'next/navigation'
import { type ReactNode, Suspense } from 'react'
import { renderOf } from '../../../../web/renders'

interface Props {
  params: Promise<{ slug: string }>
}

export const generateStaticParams = (): { slug: string }[] =>
  ['first', 'second', 'with space'].map((slug) => ({ slug }))

async function Text({ slug }: { slug: string }): Promise<ReactNode> {
  'use cache'
  cacheLife('hours')
  cacheTag('posts', `post-${slug}`)
  return (
    <p>
      Post {slug}, render {renderOf(`post ${slug}`)}
    </p>
  )
}

async function Post({ params }: Props): Promise<ReactNode> {
  const { slug } = await params
  if (slug === 'nothing') notFound()
  return <Text slug={slug} />
}

/** Whole for the slugs that are known at build, and a shell for all others. */
export default function Posts({ params }: Props): ReactNode {
  return (
    <main>
      <h1>Posts</h1>
      <Suspense fallback={<p>A post comes</p>}>
        <Post params={params} />
      </Suspense>
    </main>
  )
}

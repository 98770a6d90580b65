import type { GetStaticPaths, GetStaticProps } from 'next'
import type { ReactNode } from 'react'
import { renderOf } from '../../../renders'

export const getStaticPaths: GetStaticPaths = () => ({ paths: [{ params: { slug: 'known' } }], fallback: true })

export const getStaticProps: GetStaticProps = ({ params }) => {
  const slug = String(params?.['slug'])
  if (slug === 'nothing') return { notFound: true, revalidate: 2592000 }
  if (slug === 'moved') return { redirect: { destination: '/static', permanent: false }, revalidate: 2592000 }
  return { props: { slug, render: renderOf(`fallback ${slug}`) }, revalidate: 2592000 }
}

export default function Fallback({ slug = '', render = 0 }: { slug?: string; render?: number }): ReactNode {
  return (
    <p>
      Fallback {slug}, render {render}
    </p>
  )
}

import type { GetServerSideProps } from 'next'
import type { ReactNode } from 'react'
import { prose } from '../../content'
import { renderOf } from '../../renders'

export const getServerSideProps: GetServerSideProps = async ({ query, locale = 'none', res }) => {
  if (query['header']) res.setHeader('x-old', 'yes')
  if (query['missing']) return { notFound: true }
  if (query['go']) return { redirect: { destination: '/static', permanent: false } }
  return { props: { query: JSON.stringify(query), locale, render: renderOf('old ssr') } }
}

export default function Ssr(props: { query: string; locale: string; render: number }): ReactNode {
  return (
    <main>
      <h1>Rendered for each request, by the Pages Router</h1>
      <p>
        Locale {props.locale}, render {props.render}
      </p>
      <pre>{props.query}</pre>
      {prose(20).map((text) => (
        <p key={text}>{text}</p>
      ))}
    </main>
  )
}

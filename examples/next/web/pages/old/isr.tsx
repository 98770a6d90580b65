import type { GetStaticProps } from 'next'
import type { ReactNode } from 'react'
import { renderOf } from '../../renders'

export const getStaticProps: GetStaticProps = ({ locale = 'none' }) => ({
  props: { locale, render: renderOf(`old isr ${locale}`) },
  revalidate: 2592000,
})

export default function Isr({ locale, render }: { locale: string; render: number }): ReactNode {
  return (
    <p>
      Locale {locale}, render {render}
    </p>
  )
}

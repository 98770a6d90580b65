import type { GetStaticProps } from 'next'
import type { ReactNode } from 'react'

export const getStaticProps: GetStaticProps = ({ locale = 'none', draftMode = false }) => ({
  props: { locale, draftMode },
})

export default function Generated({ locale, draftMode }: { locale: string; draftMode: boolean }): ReactNode {
  return (
    <p>
      Generated for locale {locale}
      {draftMode && ', a draft'}
    </p>
  )
}

import type { GetStaticProps } from 'next'
import type { ReactNode } from 'react'
import { renderOf } from '../../renders'

export const getStaticProps: GetStaticProps = () => ({ props: { render: renderOf('old isr-short') }, revalidate: 2 })

export default function IsrShort({ render }: { render: number }): ReactNode {
  return <p>Render {render}</p>
}

import type { ReactNode } from 'react'
import { renderOf } from '../../renders'

export const revalidate = 2

export default function IsrShort(): ReactNode {
  return <p>Render {renderOf('isr-short')}</p>
}

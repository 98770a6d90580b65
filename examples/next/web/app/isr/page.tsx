import type { ReactNode } from 'react'
import { prose } from '../../content'
import { renderOf } from '../../renders'

export const revalidate = 2592000

export default function Isr(): ReactNode {
  return (
    <main>
      <h1>Rendered again each month</h1>
      <p id="render">Render {renderOf('isr')}</p>
      {prose(20).map((text) => (
        <p key={text}>{text}</p>
      ))}
    </main>
  )
}

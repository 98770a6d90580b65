import type { ReactNode } from 'react'
import { prose } from '../../content'
import { renderOf } from '../../renders'

export const revalidate = 2592000

export default function Ruled(): ReactNode {
  return (
    <main>
      <h1>Rules of the configuration decide by headers and cookies</h1>
      <p id="render">Render {renderOf('ruled')}</p>
      {prose(20).map((text) => (
        <p key={text}>{text}</p>
      ))}
    </main>
  )
}

import { headers } from 'next/headers'
import type { ReactNode } from 'react'
import { prose } from '../../content'
import { renderOf } from '../../renders'

export default async function Ssr({ searchParams }: { searchParams: Promise<object> }): Promise<ReactNode> {
  const all = await headers()
  return (
    <main>
      <h1>Rendered for each request</h1>
      <p>Render {renderOf('ssr')}</p>
      <pre>{JSON.stringify(await searchParams)}</pre>
      <pre>{JSON.stringify([all.get('host'), all.get('user-agent'), all.get('x-from-proxy')])}</pre>
      {prose(20).map((text) => (
        <p key={text}>{text}</p>
      ))}
    </main>
  )
}

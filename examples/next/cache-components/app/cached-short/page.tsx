import { cacheLife } from 'next/cache'
import type { ReactNode } from 'react'
import { renderOf } from '../../../web/renders'

export default async function CachedShort(): Promise<ReactNode> {
  'use cache'
  cacheLife({ stale: 30, revalidate: 2, expire: 3600 })
  return <p>Render {renderOf('cached-short')}</p>
}

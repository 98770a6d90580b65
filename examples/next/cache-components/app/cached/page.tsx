import { cacheLife, cacheTag } from 'next/cache'
import type { ReactNode } from 'react'
import { renderOf } from '../../../web/renders'
import { numbers } from '../../numbers'

/** All of it is in the cache. */
export default async function Cached(): Promise<ReactNode> {
  'use cache'
  cacheLife('hours')
  cacheTag('cached')
  return (
    <p>
      Render {renderOf('cached')}, numbers {await numbers()}
    </p>
  )
}

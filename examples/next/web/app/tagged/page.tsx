import { unstable_cache } from 'next/cache'
import type { ReactNode } from 'react'
import { renderOf } from '../../renders'

const numbers = unstable_cache(async () => renderOf('numbers'), ['numbers'], { tags: ['numbers'], revalidate: 2592000 })

export default async function Tagged(): Promise<ReactNode> {
  return (
    <p>
      Numbers {await numbers()}, render {renderOf('tagged')}
    </p>
  )
}

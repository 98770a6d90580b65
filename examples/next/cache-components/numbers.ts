import { cacheLife, cacheTag } from 'next/cache'
import { renderOf } from '../web/renders'

/** Numbers that several pages show, from the cache that they share. */
export async function numbers(): Promise<number> {
  'use cache'
  cacheLife('days')
  cacheTag('numbers')
  return renderOf('numbers')
}

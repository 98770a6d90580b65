import type { Metadata } from 'next'
import { cacheLife } from 'next/cache'
import type { ReactNode } from 'react'
import { numbers } from '../../numbers'

export async function generateMetadata(): Promise<Metadata> {
  'use cache'
  cacheLife('days')
  return { title: `Numbers ${await numbers()}` }
}

export default async function CachedMetadata(): Promise<ReactNode> {
  return <p>Numbers {await numbers()}</p>
}

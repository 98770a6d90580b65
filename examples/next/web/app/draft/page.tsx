import { draftMode } from 'next/headers'
import type { ReactNode } from 'react'

/** Rendered at build, but for who sees drafts. */
export default async function Draft(): Promise<ReactNode> {
  return <p>{(await draftMode()).isEnabled ? 'The draft' : 'What is published'}</p>
}

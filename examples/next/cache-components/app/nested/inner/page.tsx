import type { ReactNode } from 'react'
import { numbers } from '../../../numbers'

/** Its layout has a hole, and its own segment has none. */
export default async function Inner(): Promise<ReactNode> {
  return <p>Inner numbers {await numbers()}</p>
}

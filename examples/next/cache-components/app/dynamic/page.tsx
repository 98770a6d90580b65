import { connection } from 'next/server'
import type { ReactNode } from 'react'
import { renderOf } from '../../../web/renders'

export default async function Dynamic(): Promise<ReactNode> {
  await connection()
  return <p>Render {renderOf('dynamic')}</p>
}

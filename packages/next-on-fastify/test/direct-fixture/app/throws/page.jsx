import { headers } from 'next/headers'
import { runOf } from '../../runs'

export default async function Page() {
  await headers()
  runOf('page throws')
  throw new Error('The page has failed')
}

import { permanentRedirect } from 'next/navigation'
import { connection } from 'next/server'

export default async function MovedLate(): Promise<never> {
  await connection()
  permanentRedirect('/static')
}

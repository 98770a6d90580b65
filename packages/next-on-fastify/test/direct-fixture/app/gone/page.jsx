import { headers } from 'next/headers'
import { notFound } from 'next/navigation'

export default async function Page() {
  await headers()
  notFound()
}

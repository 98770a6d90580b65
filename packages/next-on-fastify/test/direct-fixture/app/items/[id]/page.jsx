import { headers } from 'next/headers'

export default async function Page({ params }) {
  await headers()
  const { id } = await params
  return <h1>Item {id}</h1>
}

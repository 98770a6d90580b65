import { headers } from 'next/headers'

export default async function Page() {
  await headers()
  return <h1>The known item</h1>
}

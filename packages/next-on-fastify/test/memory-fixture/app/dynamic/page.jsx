import { headers } from 'next/headers'

export default async function Page() {
  return <h1>{(await headers()).get('user-agent')}</h1>
}

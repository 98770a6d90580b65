import { unstable_cache } from 'next/cache'
import { headers } from 'next/headers'
import { version } from '../../version.js'

const data = unstable_cache(() => version('dynamic'), ['dynamic'], { tags: ['dynamic'] })

export default async function Page() {
  await headers()
  return <h1>{`version ${await data()}`}</h1>
}

import { unstable_cache } from 'next/cache'
import { version } from '../../version.js'

const data = unstable_cache(() => version('data'), ['data'], { tags: ['data'] })

export default async function Page() {
  return <h1>{`version ${await data()}`}</h1>
}

import { unstable_cache } from 'next/cache'

const data = unstable_cache(
  async () => {
    globalThis.taggedReads = (globalThis.taggedReads ?? 0) + 1
    return globalThis.taggedReads
  },
  ['data'],
  { tags: ['data'] },
)

export default async function Page() {
  return <h1>data {await data()}</h1>
}

import { unstable_cache } from 'next/cache'
import { lines, version } from '../../../versioned'

const data = unstable_cache(async () => version(), ['version'], { tags: ['version'] })

export default async function Page() {
  return (
    <main>
      {lines(await data()).map((line, number) => (
        <p key={number}>{line}</p>
      ))}
    </main>
  )
}

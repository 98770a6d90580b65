import { randomUUID } from 'node:crypto'
import { revalidateTag, unstable_cache } from 'next/cache'

const data = unstable_cache(async () => randomUUID(), ['data'], { tags: ['data'] })

export async function GET() {
  return Response.json(await data())
}

export function POST() {
  revalidateTag('data', { expire: 0 })
  return new Response('revalidated')
}

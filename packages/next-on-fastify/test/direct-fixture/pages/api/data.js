import { randomUUID } from 'node:crypto'
import { unstable_cache } from 'next/cache'

const data = unstable_cache(async () => randomUUID(), ['api data'], { tags: ['data'] })

export default async function handler(_, response) {
  response.json(await data())
}

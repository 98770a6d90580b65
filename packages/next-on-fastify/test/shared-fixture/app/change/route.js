import { revalidatePath, revalidateTag } from 'next/cache'

export async function GET(request) {
  const { searchParams } = new URL(request.url)
  const profile = searchParams.get('profile') ?? undefined
  if (searchParams.has('path')) revalidatePath(searchParams.get('path'))
  if (searchParams.has('tag')) revalidateTag(searchParams.get('tag'), profile ?? { expire: 0 })
  return new Response('changed')
}

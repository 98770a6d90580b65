import { revalidatePath, revalidateTag } from 'next/cache'

export async function GET(request) {
  const { searchParams } = new URL(request.url)
  if (searchParams.has('path')) revalidatePath(searchParams.get('path'))
  if (searchParams.has('tag')) revalidateTag(searchParams.get('tag'), { expire: Number(searchParams.get('expire')) })
  return new Response('changed')
}

import { revalidatePath, revalidateTag } from 'next/cache'

/** Revalidates `path` or `tag`, and responds when that is done. */
export async function POST(request: Request): Promise<Response> {
  const { searchParams } = new URL(request.url)
  const path = searchParams.get('path')
  const tag = searchParams.get('tag')
  if (path) revalidatePath(path, (searchParams.get('type') as 'page' | 'layout' | null) ?? undefined)
  if (tag) revalidateTag(tag, searchParams.has('stale') ? 'max' : { expire: 0 })
  return Response.json({ path, tag })
}

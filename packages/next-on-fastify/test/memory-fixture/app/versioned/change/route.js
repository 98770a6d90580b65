import { revalidatePath, revalidateTag } from 'next/cache'

export async function GET(request) {
  globalThis.dataVersion = Number(new URL(request.url).searchParams.get('to'))
  revalidatePath('/versioned')
  revalidatePath('/versioned/data')
  revalidateTag('version', { expire: 0 })
  return new Response('changed')
}

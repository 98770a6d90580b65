import { revalidatePath } from 'next/cache'

export async function POST() {
  revalidatePath('/timed')
  return new Response('revalidated')
}

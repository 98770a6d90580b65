import { revalidatePath } from 'next/cache'

export function POST() {
  revalidatePath('/isr')
  return new Response('revalidated')
}

'use server'

import { revalidatePath, revalidateTag, updateTag } from 'next/cache'
import { cookies } from 'next/headers'
import { redirect } from 'next/navigation'

export async function send(form: FormData): Promise<void> {
  const field = form.get('name')
  const name = typeof field === 'string' ? field : 'a file'
  if (name === 'elsewhere') redirect('/static')
  if (name === 'update') updateTag('numbers')
  if (name === 'stale') revalidateTag('numbers', 'max')
  if (name === 'path') revalidatePath('/cached')
  ;(await cookies()).set('name', name)
}

'use server'

import { revalidatePath, updateTag } from 'next/cache'
import { cookies } from 'next/headers'
import { redirect } from 'next/navigation'
import { renderOf } from '../../renders'

export async function send(form: FormData): Promise<void> {
  const field = form.get('name')
  const name = typeof field === 'string' ? field : 'a file'
  if (name === 'elsewhere') redirect('/static')
  ;(await cookies()).set('name', name)
  updateTag('numbers')
  revalidatePath('/form')
}

export async function like(): Promise<number> {
  return renderOf('like')
}

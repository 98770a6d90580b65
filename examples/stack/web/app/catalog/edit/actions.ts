'use server'

import { fastifyRequest } from 'next-on-fastify/request'
import { updateTag } from 'next/cache'
import { redirect } from 'next/navigation'
import { z } from 'zod'
import { setPrice } from '../../../catalog'

const form = z.object({ id: z.string().min(1), euros: z.coerce.number().positive().max(100_000) })

/** Anyone can call an action by its id, so it checks the session itself. */
export async function changePrice(data: FormData): Promise<void> {
  const { user } = await fastifyRequest()
  if (!user) redirect('/sign-in')
  const { id, euros } = form.parse(Object.fromEntries(data))
  await setPrice(id, Math.round(euros * 100))
  updateTag('catalog')
  redirect('/catalog')
}

import { cookies } from 'next/headers'

export async function GET(request) {
  const store = await cookies()
  store.set('a', '1')
  store.set('b', '2', { httpOnly: true })
  return new Response(request.cookies.get('session')?.value ?? 'nobody', { headers: { 'x-own': 'yes' } })
}

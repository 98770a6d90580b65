export const dynamic = 'force-dynamic'

export function GET(): Response {
  const headers = new Headers({ 'x-a': '1' })
  headers.append('set-cookie', 'a=1; Path=/')
  headers.append('set-cookie', 'b=2; Path=/; HttpOnly')
  return new Response('Two cookies', { headers })
}

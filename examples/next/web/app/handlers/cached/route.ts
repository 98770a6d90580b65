export const dynamic = 'force-static'

export function GET(): Response {
  return Response.json({ cached: true }, { headers: { 'x-handler': 'cached' } })
}

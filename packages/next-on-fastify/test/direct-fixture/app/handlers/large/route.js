export const dynamic = 'force-dynamic'

export function GET() {
  return new Response('compressible '.repeat(1000), { headers: { 'content-type': 'text/plain' } })
}

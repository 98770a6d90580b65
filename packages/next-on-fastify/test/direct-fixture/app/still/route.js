export const dynamic = 'force-static'

export function GET() {
  return new Response('made at build')
}

import { lines } from '../../../versioned'

export const dynamic = 'force-static'
export const revalidate = 2_592_000

export function GET() {
  return Response.json({ lines: lines() })
}

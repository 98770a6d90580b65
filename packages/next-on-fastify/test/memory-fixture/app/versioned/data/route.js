import { lines } from '../../../versioned'

export const dynamic = 'force-static'
export const revalidate = 3600

export function GET() {
  return Response.json({ lines: lines() })
}

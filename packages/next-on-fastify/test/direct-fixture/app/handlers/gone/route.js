import { notFound } from 'next/navigation'

export const dynamic = 'force-dynamic'

export function GET() {
  notFound()
}

import { renderOf } from '../../../renders'

export const dynamic = 'force-dynamic'

export function GET(request: Request): Response {
  return Response.json({ render: renderOf('handler dynamic'), search: new URL(request.url).search })
}

export async function POST(request: Request): Promise<Response> {
  return Response.json({ method: 'POST', body: await request.text() }, { status: 201 })
}

export async function DELETE(): Promise<Response> {
  return new Response(null, { status: 204 })
}

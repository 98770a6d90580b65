export const dynamic = 'force-static'
export const revalidate = 2_592_000

export function GET() {
  globalThis.renders_private = (globalThis.renders_private ?? 0) + 1
  return Response.json({ render: globalThis.renders_private }, { headers: { 'cache-control': 'private, max-age=10' } })
}

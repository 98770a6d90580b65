export const dynamic = 'force-static'
export const revalidate = 1

export function GET() {
  globalThis.renders_long = (globalThis.renders_long ?? 0) + 1
  return Response.json({ render: globalThis.renders_long }, { headers: { 'cache-control': 's-maxage=3600' } })
}

export const dynamic = 'force-static'
export const revalidate = 2_592_000

export function GET() {
  globalThis.renders_json = (globalThis.renders_json ?? 0) + 1
  return Response.json({ render: globalThis.renders_json }, { headers: { 'x-of-route': 'yes' } })
}

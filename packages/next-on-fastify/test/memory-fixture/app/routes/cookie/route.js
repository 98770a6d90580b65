export const dynamic = 'force-static'
export const revalidate = 2_592_000

export function GET() {
  globalThis.renders_cookie = (globalThis.renders_cookie ?? 0) + 1
  return Response.json({ render: globalThis.renders_cookie }, { headers: { 'set-cookie': 'a=b' } })
}

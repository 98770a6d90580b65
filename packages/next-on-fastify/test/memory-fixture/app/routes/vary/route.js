export const dynamic = 'force-static'
export const revalidate = 2_592_000

export function GET() {
  globalThis.renders_vary = (globalThis.renders_vary ?? 0) + 1
  return Response.json({ render: globalThis.renders_vary }, { headers: { vary: 'user-agent' } })
}

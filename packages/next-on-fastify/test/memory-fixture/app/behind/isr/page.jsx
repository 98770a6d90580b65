export const revalidate = 2_592_000

export default function Page() {
  globalThis.rendersBehind = (globalThis.rendersBehind ?? 0) + 1
  return <h1>render {globalThis.rendersBehind}</h1>
}

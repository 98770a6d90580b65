export const revalidate = 2

export default function Page() {
  globalThis.isrRenders = (globalThis.isrRenders ?? 0) + 1
  return <h1>render {globalThis.isrRenders}</h1>
}

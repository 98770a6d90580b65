export const revalidate = 2

/** Takes long to be made. */
export default async function Page() {
  globalThis.slowRenders = (globalThis.slowRenders ?? 0) + 1
  await new Promise((resolve) => setTimeout(resolve, 300))
  return <h1>render {globalThis.slowRenders}</h1>
}

/** Takes long to be made. */
export async function getStaticProps() {
  globalThis.renders_pslow = (globalThis.renders_pslow ?? 0) + 1
  await new Promise((resolve) => setTimeout(resolve, 300))
  return { props: { render: globalThis.renders_pslow }, revalidate: 1 }
}

export default function Page({ render }) {
  return <h1>render {render}</h1>
}

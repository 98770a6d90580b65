export function getStaticProps() {
  globalThis.renders_ps = (globalThis.renders_ps ?? 0) + 1
  return { props: { render: globalThis.renders_ps }, revalidate: false }
}

export default function Page({ render }) {
  return <h1>render {render}</h1>
}

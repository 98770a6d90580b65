export function getStaticProps() {
  globalThis.renders_pisr = (globalThis.renders_pisr ?? 0) + 1
  return { props: { render: globalThis.renders_pisr }, revalidate: 1 }
}

export default function Page({ render }) {
  return <h1>render {render}</h1>
}

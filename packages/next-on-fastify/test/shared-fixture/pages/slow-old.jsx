import { version } from '../version.js'

export async function getStaticProps() {
  return { props: { version: await version('slow-old', 1000) }, revalidate: 1 }
}

export default function Page(props) {
  return <h1>{`version ${props.version}`}</h1>
}

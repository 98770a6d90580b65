import { version } from '../version.js'

export async function getStaticProps() {
  return { props: { version: await version('old') }, revalidate: false }
}

export default function Page(props) {
  return <h1>{`version ${props.version}`}</h1>
}

import { runOf } from '../../runs'

export default function Page() {
  return <h1>Calm</h1>
}

export function getServerSideProps({ query }) {
  if (query.calm !== undefined) return { props: {} }
  runOf('old throws')
  throw new Error('The old page has failed')
}

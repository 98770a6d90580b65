import { lines } from '../versioned'

export function getStaticProps() {
  return { props: { all: lines() }, revalidate: 2_592_000 }
}

export default function Page({ all }) {
  return (
    <main>
      {all.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </main>
  )
}

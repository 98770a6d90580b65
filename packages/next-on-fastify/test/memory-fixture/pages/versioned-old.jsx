import { lines } from '../versioned'

export function getStaticProps() {
  return { props: { all: lines() }, revalidate: 3600 }
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

import { lines } from '../../../versioned'

export default async function Page({ searchParams }) {
  return (
    <main>
      <h1>asked {(await searchParams).n}.</h1>
      {lines().map((line, number) => (
        <p key={number}>{line}</p>
      ))}
    </main>
  )
}

import Link from 'next/link'

export default function Page() {
  return (
    <main>
      <h1>Rendered at build</h1>
      <Link href="/ssr">SSR</Link>
    </main>
  )
}

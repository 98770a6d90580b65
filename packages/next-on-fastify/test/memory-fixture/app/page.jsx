import Link from 'next/link'

export default function Page() {
  return (
    <main>
      <h1>Start</h1>
      <Link href="/isr">isr</Link>
      <p>{'A page that is long enough to be compressed. '.repeat(40)}</p>
    </main>
  )
}

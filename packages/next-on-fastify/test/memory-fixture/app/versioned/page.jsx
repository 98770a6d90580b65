import { lines } from '../../versioned'

export const revalidate = 2_592_000

export default function Page() {
  return (
    <main>
      {lines().map((line, number) => (
        <p key={number}>{line}</p>
      ))}
    </main>
  )
}

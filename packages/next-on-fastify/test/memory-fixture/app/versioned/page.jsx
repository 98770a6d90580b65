import { lines } from '../../versioned'

export const revalidate = 3600

export default function Page() {
  return (
    <main>
      {lines().map((line, number) => (
        <p key={number}>{line}</p>
      ))}
    </main>
  )
}

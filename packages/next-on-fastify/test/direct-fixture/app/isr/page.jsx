import { randomUUID } from 'node:crypto'

export const revalidate = 2_592_000

export default function Page() {
  return <h1>Render {randomUUID()}</h1>
}

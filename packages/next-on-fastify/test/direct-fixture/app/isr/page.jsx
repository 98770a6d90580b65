import { randomUUID } from 'node:crypto'

export const revalidate = 3600

export default function Page() {
  return <h1>Render {randomUUID()}</h1>
}

import type { ReactNode } from 'react'

export default function ServerError(): ReactNode {
  return <h1>The server has failed</h1>
}

import { cookies } from 'next/headers'
import type { ReactNode } from 'react'
import { send } from './actions'
import { Like } from './like'

export default async function Form(): Promise<ReactNode> {
  const name = (await cookies()).get('name')?.value ?? 'nobody'
  return (
    <main>
      <h1>Form</h1>
      <p id="name">Sent by {name}</p>
      <form action={send}>
        <label>
          Name <input name="name" />
        </label>
        <button type="submit">Send</button>
      </form>
      <Like />
    </main>
  )
}

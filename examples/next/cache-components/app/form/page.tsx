import { cookies } from 'next/headers'
import { type ReactNode, Suspense } from 'react'
import { numbers } from '../../numbers'
import { send } from './actions'

async function Name(): Promise<ReactNode> {
  return <p id="name">Sent by {(await cookies()).get('name')?.value ?? 'nobody'}</p>
}

export default async function Form(): Promise<ReactNode> {
  return (
    <main>
      <h1>Numbers {await numbers()}</h1>
      <Suspense>
        <Name />
      </Suspense>
      <form action={send}>
        <label>
          Name <input name="name" />
        </label>
        <button type="submit">Send</button>
      </form>
    </main>
  )
}

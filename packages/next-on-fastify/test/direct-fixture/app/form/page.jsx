import { headers } from 'next/headers'

async function greet(form) {
  'use server'
  globalThis.greeted = form.get('name')
}

export default async function Page() {
  await headers()
  return (
    <form action={greet}>
      <input name="name" />
      <p>Greeted: {globalThis.greeted ?? 'nobody'}.</p>
    </form>
  )
}

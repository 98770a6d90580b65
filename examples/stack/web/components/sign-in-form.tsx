'use client'

import { type ReactNode, useActionState } from 'react'
import { textOf } from '../form-data'
import { trpc } from '../trpc'

async function signIn(_previous: string, data: FormData): Promise<string> {
  try {
    await trpc.session.signIn.mutate({ name: textOf(data, 'name'), password: textOf(data, 'password') })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  // A new document: nothing that the browser has loaded for a guest stays.
  location.assign('/dashboard')
  return ''
}

export function SignInForm(): ReactNode {
  const [problem, action, isPending] = useActionState(signIn, '')
  return (
    <form action={action} className="card">
      <label>
        Name
        <input name="name" autoComplete="username" autoCapitalize="none" required />
      </label>
      <label>
        Password
        <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button type="submit" disabled={isPending}>
        Sign in
      </button>
      <output>{problem}</output>
    </form>
  )
}

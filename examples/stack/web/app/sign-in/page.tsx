import type { ReactNode } from 'react'
import { SignInForm } from '../../components/sign-in-form'

export default function SignIn(): ReactNode {
  return (
    <>
      <h1>Sign in</h1>
      <SignInForm />
      <p className="note">The terminal that started the stack shows two names and their passwords.</p>
    </>
  )
}

'use client'

import Link from 'next/link'
import { type ReactNode, useEffect, useState } from 'react'
import { trpc } from '../trpc'

/** Who has signed in. Pages around it are the same for all users, so the browser asks for it. */
export function UserMenu(): ReactNode {
  const [name, setName] = useState<string | null>()
  useEffect(() => {
    trpc.session.user.query().then(
      (user) => setName(user?.name ?? null),
      () => setName(null),
    )
  }, [])
  if (name === undefined) return <div className="user" />
  return (
    <div className="user">
      {name === null ? (
        <Link href="/sign-in">Sign in</Link>
      ) : (
        <>
          <span id="user">{name}</span>
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </>
      )}
    </div>
  )
}

async function signOut(): Promise<void> {
  await trpc.session.signOut.mutate()
  // A new document: nothing of this user stays in the memory of the page.
  location.assign('/')
}

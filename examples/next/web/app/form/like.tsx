'use client'

import { type ReactNode, useState, useTransition } from 'react'
import { like } from './actions'

export function Like(): ReactNode {
  const [likes, setLikes] = useState(0)
  const [pending, start] = useTransition()
  const click = (): void => start(async () => setLikes(await like()))
  return (
    <button type="button" disabled={pending} onClick={click}>
      Likes: {likes}
    </button>
  )
}

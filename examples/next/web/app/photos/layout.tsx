import type { ReactNode } from 'react'

/** A photo that is opened from the list comes in a slot of its own, over the list. */
export default function Photos({ children, modal }: { children: ReactNode; modal: ReactNode }): ReactNode {
  return (
    <>
      {children}
      {modal}
    </>
  )
}

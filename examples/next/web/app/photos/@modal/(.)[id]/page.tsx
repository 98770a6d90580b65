import type { ReactNode } from 'react'

export default async function PhotoModal({ params }: { params: Promise<{ id: string }> }): Promise<ReactNode> {
  return <dialog open>Photo {(await params).id} over the list</dialog>
}

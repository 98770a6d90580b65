import type { ReactNode } from 'react'

export const generateStaticParams = (): { parts: string[] }[] => [
  { parts: [] },
  { parts: ['a'] },
  { parts: ['a', 'b'] },
]

export default async function Docs({ params }: { params: Promise<{ parts?: string[] }> }): Promise<ReactNode> {
  return <p>Docs {((await params).parts ?? []).join(' / ')}</p>
}

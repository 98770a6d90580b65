'use client'

import { type ReactNode, useEffect, useState } from 'react'

interface Dashboard {
  readonly profile: { readonly fullName: string }
  readonly orders: { readonly count: number }
  /** `null` while the catalog is away: the gateway responds without it. */
  readonly featured: readonly { readonly id: string; readonly name: string }[] | null
}

/** Three services in one request, by the gateway. */
export function Summary(): ReactNode {
  const [data, setData] = useState<Dashboard>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    load().then(setData, (error: unknown) => setProblem(String(error)))
  }, [])
  return (
    <section className="card" id="summary" aria-busy={!data}>
      <h2>Overview</h2>
      <dl>
        <dt>Customer</dt>
        <dd id="full-name">{data?.profile.fullName ?? '…'}</dd>
        <dt>Orders before</dt>
        <dd>{data?.orders.count ?? '…'}</dd>
        <dt>Featured</dt>
        <dd>{data ? (data.featured?.map(({ name }) => name).join(', ') ?? 'not available') : '…'}</dd>
      </dl>
      <output>{problem}</output>
    </section>
  )
}

async function load(): Promise<Dashboard> {
  const response = await fetch('/api/dashboard')
  if (!response.ok) throw new Error(`The dashboard responded ${response.status}.`)
  return (await response.json()) as Dashboard
}

import { fastifyRequest } from 'next-on-fastify/request'
import type { ReactNode } from 'react'
import { Orders } from '../../components/orders'
import { Summary } from '../../components/summary'

export default async function Dashboard(): Promise<ReactNode> {
  const { user } = await fastifyRequest()
  return (
    <>
      <h1>{`Dashboard of ${user?.name}`}</h1>
      <div className="columns">
        <Summary />
        <Orders />
      </div>
    </>
  )
}

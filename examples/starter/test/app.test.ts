import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import app from '../src/app.ts'
import { services } from '../src/services.ts'

let instance: FastifyInstance

beforeAll(async () => {
  services.listen(0, '127.0.0.1')
  await once(services, 'listening')
  process.env.SERVICES = `http://127.0.0.1:${(services.address() as AddressInfo).port}`
  instance = await app()
})

afterAll(async () => {
  await instance.close()
  services.close()
})

it('greets by a query of tRPC', async () => {
  const response = await instance.inject('/trpc/greet?input=%22Ada%22')
  expect(response.json()).toEqual({ result: { data: { text: 'Hello Ada' } } })
})

it('responds 400 to an input that the procedure does not accept', async () => {
  expect(await instance.inject('/trpc/greet?input=%22%22')).toMatchObject({ statusCode: 400 })
})

it('merges the responses of three calls into a dashboard', async () => {
  const response = await instance.inject('/dashboard/7')
  expect(response.json()).toEqual({
    profile: { url: '/users/7', account: 9 },
    orders: { url: '/orders?user=7', account: 9 },
    invoices: { url: '/invoices/9', account: 9 },
  })
})

import Fastify from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { tellOwnOrigin } from '../../../src/next/own-origin.ts'

const told = (): string | undefined => process.env['__NEXT_PRIVATE_ORIGIN']

const apps: { close: () => Promise<unknown> }[] = []
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()))
})

function start(): ReturnType<typeof Fastify> {
  const app = Fastify()
  apps.push(app)
  tellOwnOrigin(app)
  return app
}

describe('the origin that Next fetches pages from after an action', () => {
  it('is the address that the server listens on, until it closes', async () => {
    const app = start()
    expect(told()).toBeUndefined()
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    expect(told()).toBe(origin)
    await app.close()
    expect(told()).toBeUndefined()
  })

  it('has brackets around an IPv6 address', async () => {
    const app = start()
    expect(await app.listen({ host: '::1', port: 0 })).toBe(told())
    expect(told()).toMatch(/^http:\/\/\[::1\]:\d+$/)
  })

  it('stays that of a second server when the first one closes', async () => {
    const first = start()
    await first.listen({ host: '127.0.0.1', port: 0 })
    const second = await start().listen({ host: '127.0.0.1', port: 0 })
    await first.close()
    expect(told()).toBe(second)
  })
})

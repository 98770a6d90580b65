import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import Fastify from 'fastify'
import {
  createNextOnFastify,
  nextPlugin,
  type ServedRequest,
  type NextObserver,
  type ObservedNext,
} from 'next-on-fastify'
import { expect, it, onTestFinished } from 'vitest'
import { standInApp } from '../../helpers/stand-in.ts'

/** Notes what it is told. */
class Noting implements NextObserver {
  readonly opened: ObservedNext[] = []
  readonly closed: ObservedNext[] = []
  readonly answers: (ServedRequest & { readonly prefix: string })[] = []
  nextOpened(next: ObservedNext): void {
    this.opened.push(next)
  }
  nextClosed(next: ObservedNext): void {
    this.closed.push(next)
  }
  requestServed({ prefix }: ObservedNext, answer: ServedRequest): void {
    this.answers.push({ prefix, ...answer })
  }
}

it('notifies observers once per response of Next, and never for routes of the app', async () => {
  const observer = new Noting()
  const app = await createNextOnFastify({ dir: standInApp(), observers: [observer] })
  app.get('/own', async () => 'own')
  for (const url of ['/page?a=%2F', '/own', '/throws']) await app.inject(url)
  await app.inject({ method: 'POST', url: '//odd', payload: 'text' })
  expect(observer.answers).toEqual(
    [
      ['GET', '/page?a=%2F', 200],
      ['GET', '/throws', 500],
      ['POST', '//odd', 200],
    ].map(([method, url, status]) => {
      const duration = expect.any(Number) as number
      return { prefix: '', method, url, status, duration, aborted: false }
    }),
  )
  for (const { duration } of observer.answers) expect(duration).toBeGreaterThan(0)
})

it('tells of a client that has left', async () => {
  const observer = new Noting()
  const app = await createNextOnFastify({ dir: standInApp(), observers: [observer] })
  onTestFinished(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const asked = once(app.server, 'request')
  socket.write('POST /slow HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf')
  await asked
  socket.destroy()
  await expect.poll(() => observer.answers).toMatchObject([{ url: '/slow', aborted: true }])
})

it('tells of each app when it is ready and when it closes', async () => {
  const observer = new Noting()
  const app = Fastify()
  const dir = standInApp()
  for (const prefix of ['/shop', '/blog']) {
    await app.register(nextPlugin, { dir, prefix, observers: [observer] })
  }
  expect(observer.opened).toEqual(
    ['/shop', '/blog'].map((prefix) => ({ prefix, stats: expect.any(Function) as unknown })),
  )
  await app.inject('/blog/page')
  expect(observer.answers.map(({ prefix, url }) => [prefix, url])).toEqual([['/blog', '/blog/page']])
  expect(observer.closed).toEqual([])
  await app.close()
  // The same objects again, so that they can be keys.
  expect(new Set(observer.closed)).toEqual(new Set(observer.opened))
})

it('logs the first rejection of an asynchronous observer', async () => {
  const logged: string[] = []
  const stream = { write: (line: string) => void logged.push((JSON.parse(line) as { observer: string }).observer) }
  const app = await createNextOnFastify({
    dir: standInApp(),
    observers: [{ requestServed: async () => Promise.reject(new Error('of the observer')) }],
    fastify: { logger: { level: 'error', stream } },
  })
  for (const url of ['/1', '/2']) expect((await app.inject(url)).statusCode).toBe(200)
  await app.close()
  expect(logged).toEqual(['observers[0].requestServed'])
})

it('logs the first error of an observer, and notifies the others', async () => {
  const complaints: string[] = []
  const stream = { write: (line: string) => void complaints.push((JSON.parse(line) as { observer: string }).observer) }
  const fail = (): never => {
    throw new Error('of the observer')
  }
  const observer = new Noting()
  const app = await createNextOnFastify({
    dir: standInApp(),
    observers: [{ nextOpened: fail, nextClosed: fail, requestServed: fail }, observer],
    fastify: { logger: { level: 'error', stream } },
  })
  for (const url of ['/1', '/2']) expect((await app.inject(url)).statusCode).toBe(200)
  await app.close()
  expect(observer.answers.map(({ url }) => url)).toEqual(['/1', '/2'])
  expect([observer.opened, observer.closed].map(({ length }) => length)).toEqual([1, 1])
  expect(complaints).toEqual(['observers[0].nextOpened', 'observers[0].requestServed', 'observers[0].nextClosed'])
})

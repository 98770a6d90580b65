import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { request as requestHttps } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { appKinds } from '../helpers/app-kinds.ts'
import { canCertify, certificate } from '../helpers/certificate.ts'
import { connectTo, type Kind, startFaultLoad } from '../helpers/fault-load.ts'
import { startServer } from '../helpers/running-server.ts'

const clients: Partial<Record<Kind, number>> = { busy: 2, thinking: 8, short: 1, slow: 4, streaming: 2, uploading: 2 }

it.each(appKinds)('reloads an app of its kind: $app', async ({ app }) => {
  const server = await startServer(app)
  const before = server.status().workers.map(({ id }) => id)
  const load = startFaultLoad({ connect: connectTo(server.port), clients })
  for (let reload = 0; reload < 2; reload++) {
    await server.reload()
    await wait(200)
  }
  const active = server.status().workers.filter(({ state }) => state === 'active')
  expect(active.length).toBeGreaterThanOrEqual(2)
  expect(active.filter(({ id }) => before.includes(id))).toEqual([])
  const report = await load.stop()
  const none = { notes: [], failed: 0, announced: 0, unannounced: 0, reconnected: [], unserved: [] }
  expect(report).toMatchObject(none)
  const ids = server.status().workers.length
  await server.close()
  expect(ids).toBeGreaterThan(0)
  expect(server.status().workers).toEqual([])
})

it.runIf(canCertify)('serves HTTP/2 and HTTP/1.1 on one port, as ALPN has it', async () => {
  const { port } = await startServer('http2.ts', { env: certificate() })
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  expect(await text(session.request({ ':path': '/answer/2' }))).toBe('2')
  expect(session.alpnProtocol).toBe('h2')
  session.close()
  const options = { port, host: '127.0.0.1', path: '/answer/1', rejectUnauthorized: false, agent: false }
  const [response] = (await once(requestHttps(options).end(), 'response')) as [NodeJS.ReadableStream]
  expect(response).toMatchObject({ httpVersion: '1.1' })
  expect(await text(response)).toBe('1')
})

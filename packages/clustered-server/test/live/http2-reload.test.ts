import { type ClientHttp2Session, connect } from 'node:http2'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { canCertify, certificate } from '../helpers/certificate.ts'
import { startServer } from '../helpers/running-server.ts'

const reloads = Number(process.env['RELOADS'] ?? 6)

function ask(session: ClientHttp2Session, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path }).setEncoding('utf8').on('error', reject)
    let text = ''
    stream.on('data', (chunk: string) => (text += chunk))
    stream.on('close', () => resolve(text))
  })
}

it.runIf(canCertify)(
  'reloads lose no HTTP/2 request, and send GOAWAY first',
  { timeout: 600_000 },
  async ({ annotate }) => {
    const server = await startServer('http2.ts', { env: certificate() })
    const over = new AbortController()
    const failures: unknown[] = []
    let answered = 0
    let told = 0
    const client = async (): Promise<void> => {
      let session: ClientHttp2Session | undefined
      const isOpen = (): boolean => session !== undefined && !session.closed && !session.destroyed
      const streams = Array.from({ length: 4 }, async (_, stream) => {
        for (let request = 0; !over.signal.aborted; request++) {
          if (!isOpen())
            session = connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
              .on('goaway', () => told++)
              .on('error', (error) => failures.push(error))
          const path = ['answer', 'slow', 'stream'][request % 3]
          const id = `${stream}${request}`
          const used = session!
          try {
            const text = await ask(used, `/${path}/${id}`)
            answered++
            if (text !== id) failures.push(`${text} for ${id}`)
          } catch (error) {
            // What a client has not sent yet when it is told to go, it refuses itself: by the protocol it asks again.
            if (!used.closed || !String(error).includes('NGHTTP2_REFUSED_STREAM')) failures.push(error)
          }
        }
      })
      await Promise.all(streams)
      session?.close()
    }
    const clients = Array.from({ length: 8 }, client)
    for (let reload = 0; reload < reloads; reload++) {
      await server.reload()
      await wait(Math.random() * 300)
    }
    over.abort()
    await Promise.all(clients)
    await annotate(`${answered} answers, ${told} sessions told to go`)
    expect(failures).toEqual([])
    expect(told).toBeGreaterThan(0)
  },
)

import Fastify from 'fastify'
import { closeOnSignal } from '@examples/close-on-signal'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)
const upstream = process.env.UPSTREAM ?? 'http://127.0.0.1:3001'

// Serve requests that arrive during shutdown. By default, Fastify rejects them with a 503.
const app = Fastify({ return503OnClosing: false })

const get = async (part: string, size: string): Promise<unknown> => {
  const response = await fetch(`${upstream}/${part}/${encodeURIComponent(size)}`)
  if (!response.ok) throw new Error(`${part} responded ${response.status}`)
  return response.json()
}

app.get<{ Params: { size: string } }>('/api/:size', async (request) => {
  const { size } = request.params
  const [profile, permissions, preferences, notifications, activity] = await Promise.all([
    get('profile', size),
    get('permissions', size),
    get('preferences', size),
    get('notifications', size),
    get('activity', size),
  ])
  return { profile, permissions, preferences, notifications, activity }
})

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port })
console.log('Listening on', app.server.address())

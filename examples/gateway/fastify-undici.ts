import Fastify from 'fastify'
import { Pool } from 'undici'
import { closeOnSignal } from '@examples/close-on-signal'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)
// Without a bound each call that finds no idle connection opens one: 500 of them cost more than 64.
const pool = new Pool(process.env.UPSTREAM ?? 'http://127.0.0.1:3001', { connections: 64 })

// Serve requests that arrive during shutdown. By default, Fastify rejects them with a 503.
const app = Fastify({ return503OnClosing: false })
app.addHook('onClose', () => pool.close())

const get = async (part: string, size: string): Promise<unknown> => {
  const { statusCode, body } = await pool.request({ method: 'GET', path: `/${part}/${encodeURIComponent(size)}` })
  if (statusCode !== 200) {
    await body.dump()
    throw new Error(`${part} responded ${statusCode}`)
  }
  return body.json()
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

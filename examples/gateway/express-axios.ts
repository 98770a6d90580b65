import axios from 'axios'
import express from 'express'
import { closeOnSignal } from '@examples/close-on-signal'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)
const client = axios.create({ baseURL: process.env.UPSTREAM ?? 'http://127.0.0.1:3001' })

const app = express()
// Both are work and bytes that the other servers do not have.
app.disable('x-powered-by')
app.disable('etag')

const get = async (part: string, size: string): Promise<unknown> =>
  (await client.get<unknown>(`/${part}/${encodeURIComponent(size)}`)).data

app.get('/api/:size', async (request, response) => {
  const { size } = request.params
  const [profile, permissions, preferences, notifications, activity] = await Promise.all([
    get('profile', size),
    get('permissions', size),
    get('preferences', size),
    get('notifications', size),
    get('activity', size),
  ])
  response.json({ profile, permissions, preferences, notifications, activity })
})

const server = app.listen(port, host, (error) => {
  // Express hands a failed listen, such as a port in use, to this callback.
  if (error) throw error
  console.log('Listening on', server.address())
})

closeOnSignal(server, () => server.close())

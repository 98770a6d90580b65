// The users and their passwords, in place of an identity provider. Password hashes never leave this process.

import { closeOnSignal } from '@examples/close-on-signal'
import Fastify from 'fastify'
import { hashPassword, isPassword } from './passwords.ts'

interface Account {
  readonly name: string
  readonly fullName: string
  readonly passwordHash: string
}

const accounts = new Map(
  (JSON.parse(process.env['ACCOUNTS'] ?? '[]') as Account[]).map((account) => [account.name, account]),
)
/** Checked for unknown names, so that the time of a response does not tell which names exist. */
const unusedHash = await hashPassword('')

const app = Fastify()

app.get<{ Params: { name: string } }>('/accounts/:name', (request, reply) => {
  const account = accounts.get(request.params.name)
  if (!account) return reply.code(404).send({ error: 'Unknown account' })
  return { name: account.name, fullName: account.fullName }
})

app.post<{ Body: { name: string; password: string } }>(
  '/sign-in',
  {
    schema: {
      body: {
        type: 'object',
        required: ['name', 'password'],
        properties: { name: { type: 'string' }, password: { type: 'string' } },
      },
    },
  },
  async (request, reply) => {
    const { name, password } = request.body
    const account = accounts.get(name)
    const isRight = await isPassword(password, account?.passwordHash ?? unusedHash)
    if (!account || !isRight) return reply.code(401).send({ error: 'Wrong name or password' })
    return { name: account.name, fullName: account.fullName }
  },
)

closeOnSignal(app.server, () => app.close())

await app.listen({ host: process.env['HOST'] ?? '127.0.0.1', port: Number(process.env['PORT'] ?? 0) })
console.log('Listening on', app.server.address())

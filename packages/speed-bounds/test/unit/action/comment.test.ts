import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { type CommentTarget, writeComment } from '../../../src/action/comment.ts'

const MARKER = '<!-- speed-bounds -->'
let server: Server | undefined
afterEach(() => server?.close())

interface FakeComment {
  id: number
  body: string
  user: { type: string }
}

/** An API server with these comments, that responds to writes with this status. */
async function api(comments: FakeComment[], status = 201): Promise<{ target: CommentTarget; calls: string[] }> {
  const calls: string[] = []
  server = createServer(async (request, response) => {
    const chunks = (await request.toArray()) as Buffer[]
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
    if (request.method === 'GET') {
      const page = Number(searchParams.get('page'))
      response.end(JSON.stringify(comments.slice((page - 1) * 100, page * 100)))
      return
    }
    const { body } = JSON.parse(Buffer.concat(chunks).toString()) as { body: string }
    calls.push(`${request.method} ${pathname} ${body} ${request.headers.authorization}`)
    response.writeHead(status).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { target: { api: `http://127.0.0.1:${port}`, repository: 'o/r', pullRequest: 7, token: 't' }, calls }
}

const comment = (id: number, body: string, type = 'Bot'): FakeComment => ({ id, body, user: { type } })

it('creates the comment', async () => {
  const { target, calls } = await api([comment(1, 'hello', 'User')])
  expect(await writeComment(target, MARKER, 'text')).toBe(true)
  expect(calls).toEqual([`POST /repos/o/r/issues/7/comments ${MARKER}\ntext Bearer t`])
})

it('updates the comment of an earlier run, on any page', async () => {
  const others = Array.from({ length: 130 }, (_, id) => comment(id, 'hello'))
  const { target, calls } = await api([...others, comment(500, `${MARKER}\nold`)], 200)
  expect(await writeComment(target, MARKER, 'text')).toBe(true)
  expect(calls).toEqual([`PATCH /repos/o/r/issues/comments/500 ${MARKER}\ntext Bearer t`])
})

it('leaves a comment of a person with the same marker alone', async () => {
  const { target, calls } = await api([comment(3, `${MARKER}\nmine`, 'User')])
  await writeComment(target, MARKER, 'text')
  expect(calls[0]).toMatch(/^POST/)
})

it.each([401, 403, 404])('reports a token that may only read, by status %i', async (status) => {
  const { target } = await api([], status)
  expect(await writeComment(target, MARKER, 'text')).toBe(false)
})

it('rejects on another status', async () => {
  const { target } = await api([], 500)
  await expect(writeComment(target, MARKER, 'text')).rejects.toThrow('GitHub responded with status 500 to the comment.')
})

it('cuts a text that is longer than GitHub allows', async () => {
  const { target, calls } = await api([])
  await writeComment(target, MARKER, 'x'.repeat(100_000))
  expect(calls[0]!.length).toBeLessThan(65_536)
})

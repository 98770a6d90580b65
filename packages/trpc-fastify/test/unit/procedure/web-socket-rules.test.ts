// A WebSocket runs no hooks of rules, so calls of procedures with such hooks are refused: a login check holds for them, too.

import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import type { ProcedureRule } from 'trpc-fastify'
import { expect, it } from 'vitest'
import { overWebSocket } from '../../helpers/over-web-socket.ts'
import { serveRuled } from '../../helpers/ruled-app.ts'

type Rules = Record<string, ProcedureRule>

const SERVED = { result: { type: 'data' } }
const REFUSED = { error: { message: 'This procedure is not served over WebSockets', data: { code: 'FORBIDDEN' } } }
const hook = async (): Promise<void> => {}

/** Serves rules over WebSockets, and collects warnings of the log. */
async function serve(
  procedures: Rules,
  options: { endStreamsOnClose?: boolean; callLogLevel?: 'info' } = {},
): Promise<{ app: FastifyInstance; warnings: unknown[] }> {
  const warnings: unknown[] = []
  const logger = { level: 'warn', stream: { write: (line: string) => warnings.push(JSON.parse(line)) } }
  const prepare = (app: FastifyInstance): unknown => app.register(websocket)
  const app = await serveRuled(() => ({ useWSS: true, procedures, ...options }), { fastify: { logger }, prepare })
  return { app, warnings }
}

it.each<[string, Rules, string, object]>([
  ['a rule with onRequest', { hello: { onRequest: hook } }, 'hello', REFUSED],
  ['a rule with preValidation', { hello: { preValidation: [hook] } }, 'hello', REFUSED],
  ['a rule with preHandler', { hello: { preHandler: hook } }, 'hello', REFUSED],
  ['a rule for all', { '*': { onRequest: hook } }, 'post.list', REFUSED],
  ['a rule for a lazy router', { 'admin.*': { onRequest: hook } }, 'admin.health', REFUSED],
  ['useWSS: false', { hello: { useWSS: false } }, 'hello', REFUSED],
  ['no rule', { 'post.*': { onRequest: hook } }, 'hello', SERVED],
  ['a rule without hooks that reject', { hello: { onSend: hook, onResponse: hook, preHandler: [] } }, 'hello', SERVED],
  ['useWSS: true beside the hook', { hello: { onRequest: hook, useWSS: true } }, 'hello', SERVED],
  ['useWSS: true in a more specific rule', { '*': { onRequest: hook }, hello: { useWSS: true } }, 'hello', SERVED],
  [
    'a hook in a more specific rule',
    { '*': { useWSS: true }, 'post.*': { onRequest: hook } },
    'post.comment.list',
    REFUSED,
  ],
])('a call over a WebSocket with %s', async (_, procedures, path, expected) => {
  const { app } = await serve(procedures)
  expect(await overWebSocket(app, path)).toMatchObject([expected])
})

it.each([{ endStreamsOnClose: true }, { callLogLevel: 'info' }] as const)(
  'refuses it with %o, too',
  async (options) => {
    const { app } = await serve({ 'post.*': { onRequest: hook } }, options)
    expect(await overWebSocket(app, 'post.list', 'hello')).toMatchObject([REFUSED, SERVED])
  },
)

it.each<[Rules, string[]]>([
  [{ 'admin.*': { onRequest: hook }, hello: { timeout: 10 } }, ['admin.*']],
  [{ '*': { preHandler: [hook] }, 'admin.*': { preValidation: hook } }, ['*', 'admin.*']],
])('the log names the rules whose procedures are not served (%#)', async (procedures, rules) => {
  const { warnings } = await serve(procedures)
  const msg = expect.stringMatching(/^Procedures of rules with hooks are not served over WebSockets/) as string
  expect(warnings).toEqual([expect.objectContaining({ msg, rules })])
})

it.each<[Rules]>([
  [{ '*': { onSend: hook, onResponse: hook } }],
  [{ '*': { timeout: 10, onRequest: [] } }],
  [{ '*': { onRequest: hook, useWSS: true }, hello: { onRequest: hook, useWSS: false } }],
])('the log has no warning of rules without hooks, or with useWSS (%#)', async (procedures) => {
  expect((await serve(procedures)).warnings).toEqual([])
})

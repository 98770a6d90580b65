// Prints whether the blank objects have the hidden classes of those of requests. Run with --allow-natives-syntax.

import { initTRPC } from '@trpc/server'
import type { TRPCRequestInfo } from '@trpc/server/http'
import Fastify from 'fastify'
import { answer } from '../../src/answer.ts'
import { answerStyle } from '../../src/answer-style.ts'
import { fastProcedures } from '../../src/fast-procedures.ts'
import { FastTrpcRequest } from '../../src/fast-request.ts'
import { internalsOf } from '../../src/internals.ts'
import { keptClasses } from '../../src/kept-classes.ts'
import { ProcedureRules } from '../../src/procedure-rules.ts'
import { readRequest } from '../../src/read-request.ts'
import { Serializers } from '../../src/serializer.ts'

// oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- vite and TypeScript do not know the syntax of V8
const haveSameMap = new Function('one', 'other', 'return %HaveSameMap(one, other)') as (
  one: object,
  other: object,
) => boolean

const seen: { options?: object; info?: TRPCRequestInfo; request?: FastTrpcRequest; answer?: object } = {}
const t = initTRPC.create()
const resolver = (options: object): string => {
  seen.options = options
  return 'world'
}
const router = t.router({
  query: t.procedure.input((value) => value).query(resolver),
  mutation: t.procedure.input((value) => value).mutation(resolver),
  middleware: t.procedure.use(({ next }) => next({ ctx: { number: 1.5 } })).query(resolver),
})
const internals = internalsOf(router)
const { config } = internals
const readOptions = {
  find: fastProcedures(internals, {
    engine: 'compiled',
    around: undefined,
    serializers: new Serializers(new ProcedureRules({}, internals), internals),
  }),
  pathSeparator: '.',
  deserialize: (input: unknown) => input,
  allowBatching: true,
  allowMethodOverride: false,
  maxBatchSize: undefined,
  servesSubscriptions: true,
  takesEmptyBody: true,
}
const createContext = ({ info }: { info: TRPCRequestInfo }): object => {
  seen.info = info
  return { info }
}
const answerOptions = {
  trpcOptions: { router, createContext } as never,
  config,
  openStreams: undefined,
  ...(await answerStyle(config)),
}

const app = Fastify()
app.removeContentTypeParser('application/json')
app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body))
app.all('/trpc/:path', async (req, reply) => {
  const request = readRequest(req, reply, readOptions)
  if (typeof request === 'string') throw new Error(`Left to the official adapter: ${request}`)
  seen.request = request
  seen.answer = await answer(request, answerOptions)
  return seen.request.scope.isBatch
})

/** Which of what a request made has the hidden class of a blank object. */
function kept(): Record<string, boolean> {
  const { options, info, request, answer: answered } = seen
  const made = { options, info, request, call: request!.calls[0], scope: request!.scope, answer: answered }
  const blanks = keptClasses.flatMap((blank) => (blank instanceof FastTrpcRequest ? [blank, blank.calls[0]!] : blank))
  return Object.fromEntries(
    Object.entries(made).map(([name, object]) => [name, blanks.some((blank) => haveSameMap(blank as object, object!))]),
  )
}

const JSON_TYPE = { 'content-type': 'application/json' }
const results: Record<string, object> = {}
for (const [name, request] of Object.entries({
  first: { url: '/trpc/query' },
  query: { url: '/trpc/query?input=1.5' },
  mutation: { method: 'POST', url: '/trpc/mutation', headers: JSON_TYPE, body: '{"a":1}' },
  batch: { url: '/trpc/query,middleware?batch=1&input={"0":{"a":1}}' },
} as const)) {
  for (let times = 0; times < (name === 'first' ? 1 : 3000); times++) await app.inject(request)
  results[name] = kept()
}
console.log(JSON.stringify(results))

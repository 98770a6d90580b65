import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { type RecordedResponse, TappedResponse, type Unrecordable } from '../../../src/response-cache/recorder.ts'

/** What is recorded of a response to `inject()`, as in the warm-up of an app. */
async function recordedOf(chunks: readonly string[], isEnded = true): Promise<RecordedResponse | Unrecordable> {
  const { promise, resolve } = Promise.withResolvers<RecordedResponse | Unrecordable>()
  const app = Fastify()
  app.get('/', (_request, reply) => {
    const { raw } = reply
    reply.hijack()
    new TappedResponse(raw).record(100, { head: () => {}, recorded: resolve })
    for (const chunk of chunks) raw.write(chunk)
    if (isEnded) raw.end()
    else raw.destroy()
  })
  await app.inject('/').catch(() => {})
  return promise
}

it('records a response to `inject()`, whose socket lags behind it', async () => {
  expect(await recordedOf(['the ', 'page'])).toMatchObject({ status: 200, body: Buffer.from('the page') })
})

it('does not record a response to `inject()` that is destroyed', async () => {
  expect(await recordedOf(['the '], false)).toBe('aborted')
})

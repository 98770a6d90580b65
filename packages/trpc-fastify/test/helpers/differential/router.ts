// What the routers of these tests share: everything that the code of a user can see is noted.

import { initTRPC } from '@trpc/server'
import type { CreateFastifyContextOptions } from '@trpc/server/adapters/fastify'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Mount } from './compare.ts'
import type { Recorder } from './recorder.ts'

interface Context {
  readonly req: FastifyRequest
  readonly res: FastifyReply
  readonly user: string
}

type Meta = Record<string, unknown>

/** Options that note what their functions are called with. */
export function observed(recorder: Recorder): NonNullable<Mount['options']> {
  return {
    createContext(options) {
      seeContext(recorder, options)
      return { req: options.req, res: options.res, user: 'ada' }
    },
    onError: (options) => recorder.see('onError', options),
  }
}

/** The same with `responseMeta`. */
export function observedWithMeta(recorder: Recorder): NonNullable<Mount['options']> {
  return {
    ...observed(recorder),
    responseMeta(options) {
      recorder.see('responseMeta', options)
      return {}
    },
  }
}

export function seeContext(recorder: Recorder, options: CreateFastifyContextOptions): void {
  const { info } = options
  const inputs = info.calls.map((call) => call.result())
  const keys = { options: Object.keys(options).toSorted(), info: Object.keys(info) }
  recorder.see('createContext', { keys, info, inputs, req: options.req, res: options.res })
}

const builder = initTRPC.context<Context>().meta<Meta>()
type Config = Parameters<typeof builder.create>[0]

/** tRPC without stack traces, unless they are asked for, with an error formatter that notes what it gets. */
export function observedTRPC(recorder: Recorder, config?: Config): ReturnType<typeof plainTRPC> {
  return plainTRPC({
    isDev: false,
    errorFormatter({ shape, ...options }) {
      recorder.see('errorFormatter', { shape, ...options })
      return shape
    },
    ...config,
  })
}

// oxlint-disable-next-line typescript/explicit-function-return-type -- tRPC names no type for it
function plainTRPC(config: Config) {
  return builder.create(config)
}

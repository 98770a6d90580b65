import { initTRPC } from '@trpc/server'
import { z } from 'zod'
import { compile } from '../src/procedure/compile.ts'
import type { Call } from '../src/procedure/resolver-options.ts'

const t = initTRPC.create()
const named = z.object({ name: z.string() })
const pass = t.procedure.use(({ next }) => next())

const procedures = {
  'no validator': t.procedure.query(() => 'ok'),
  'zod input': t.procedure.input(named).query(({ input }) => input.name),
  'zod input and output': t.procedure
    .input(named)
    .output(z.string())
    .query(({ input }) => input.name),
  'three middlewares': pass
    .use(({ next }) => next())
    .use(({ next }) => next())
    .query(() => 'ok'),
}

const input = { name: 'world' }
const call: Call = {
  path: 'procedure',
  batchIndex: 0,
  readInput: () => input,
  getRawInput: () => Promise.resolve(input),
  signal: new AbortController().signal,
}

/** Calling a procedure. */
export default Object.fromEntries(
  Object.entries(procedures).map(([name, procedure]) => {
    const [compiled, uncompiled] = [compile(procedure, 'compiled'), compile(procedure, 'uncompiled')]
    return [
      name,
      {
        'step by step': () => compiled.call(call, {}),
        "by tRPC's own code": () => uncompiled.call(call, {}),
      },
    ]
  }),
)

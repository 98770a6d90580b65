import Koa from 'koa'
import { answer } from './faults.ts'

/** An app of Koa: no function, and no server yet. */
export default function koa(): Koa {
  const app = new Koa()
  app.use(async (context) => {
    context.respond = false
    context.res.statusCode = 200
    await answer(context.req, context.res)
  })
  return app
}

import { createServer, type Server } from 'node:http'

/** Answers with what the probes said while it was being loaded. */
export default async function asksWhileLoading(): Promise<Server> {
  const origin = `http://127.0.0.1:${process.env['ADMIN_PORT']}`
  const asked = await Promise.all([fetch(`${origin}/live`), fetch(`${origin}/ready`)])
  const said = asked.map(({ status }) => status).join()
  return createServer((_request, response) => {
    response.end(said)
  })
}

import { createServer } from 'node:http'

/** Says which process it is; whoever calls this gets nothing of the server. */
export default function listensItself(): void {
  createServer((_request, response) => {
    response.end(String(process.pid))
  }).listen(Number(process.env['OWN_PORT']), '127.0.0.1')
}

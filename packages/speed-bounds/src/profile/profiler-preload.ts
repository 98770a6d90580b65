// Runs in the process of a subject, before its script. It samples the process when the race asks for it, over a socket
// that only this user can reach. A debugging port would let every user of the machine run code in the subject.

import { Session } from 'node:inspector'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

const { SPEED_BOUNDS_PROFILER: path } = process.env
// Processes that the subject starts are not profiled.
delete process.env['SPEED_BOUNDS_PROFILER']

if (path !== undefined) {
  const session = new Session()
  session.connect()
  const socket = connect(path)
  // The subject never waits for this socket, and never fails because of it.
  socket.on('error', () => {}).unref()
  const respond = (error: Error | null, result: object = {}): void =>
    void socket.write(`${JSON.stringify(error ? { error: error.message } : result)}\n`)
  createInterface({ input: socket }).on('line', (line) => {
    const { method, params } = JSON.parse(line) as { method: string; params?: object }
    session.post(method, params, respond)
  })
}

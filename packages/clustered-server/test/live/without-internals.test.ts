// A Node that lacks what connections are handed over by, as a later one may: here its list of connections is hidden.

import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { appPath, Command } from '../helpers/command.ts'
import { connectTo, mixed, startFaultLoad } from '../helpers/fault-load.ts'

const HIDDEN = `
  const { getOwnPropertySymbols } = Object
  const isHidden = ({ description }) => description === 'http.server.connections'
  Object.getOwnPropertySymbols = (of) => getOwnPropertySymbols(of).filter((symbol) => !isHidden(symbol))
`

it('warns at the start, and closes each connection with notice on a reload', { timeout: 300_000 }, async () => {
  const options = ['--workers', '2', '--port', '0', '--host', '127.0.0.1', '--heartbeat-timeout', '10000']
  const preload = `--import=data:text/javascript,${encodeURIComponent(HIDDEN)}`
  const command = new Command([appPath('faults'), ...options], { NODE_OPTIONS: preload })
  onTestFinished(() => command.end())
  const { port } = await command.listening()
  expect(command.log[0]).toMatchObject({
    level: 40,
    msg: `Node ${process.version} lacks the internals of a handover: a reload closes connections`,
  })
  const load = startFaultLoad({ connect: connectTo(port!), clients: mixed })
  for (let reload = 1; reload <= 3; reload++) {
    await wait(300)
    command.kill('SIGHUP')
    await command.logged(({ msg }) => msg.startsWith(`reloaded: generation ${reload + 1} `))
  }
  const report = await load.stop()
  expect(report).toMatchObject({ notes: [], failed: 0, unannounced: 0, unserved: [] })
  expect(report.announced).toBeGreaterThan(0)
  command.kill('SIGTERM')
  expect(await command.exit).toBe(0)
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { appPath, CLI } from '../helpers/command.ts'

it('serves requests in flight after Ctrl-C, although the app handles SIGINT itself', async () => {
  const args = [CLI, appPath('own-sigint'), '--workers', '2', '--port', '0', '--host', '127.0.0.1']
  // A process group of its own, as a terminal gives it.
  const primary = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => void primary.kill('SIGKILL'))
  const exited = once(primary, 'exit')
  let log = ''
  primary.stderr.setEncoding('utf8').on('data', (chunk: string) => (log += chunk))
  await expect.poll(() => /"port":(\d+)/.exec(log)).not.toBeNull()
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => fetch(`http://127.0.0.1:${/"port":(\d+)/.exec(log)![1]}`)),
  )
  process.kill(-primary.pid!, 'SIGINT')
  const bodies = await Promise.all(responses.map((response) => text(response.body!)))
  expect(bodies).toEqual(Array.from({ length: 8 }, () => 'done'))
  expect(await exited).toEqual([0, null])
})

import { expect, it, onTestFinished } from 'vitest'
import { appPath, Command } from '../helpers/command.ts'

it('serves with two workers, reloads them, and stops with exit code 0', async () => {
  const command = new Command([appPath('hello'), '--workers', '2', '--port', '0', '--host', '127.0.0.1'])
  onTestFinished(() => command.end())
  const { port } = await command.listening()
  const workerOf = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}`)).text()
  const before = await workerOf()
  command.kill('SIGHUP')
  await command.logged(({ msg }) => msg.startsWith('reloaded'))
  expect(await workerOf()).not.toBe(before)
  command.kill('SIGTERM')
  expect(await command.exit).toBe(0)
})

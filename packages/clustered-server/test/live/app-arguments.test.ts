import { expect, it, onTestFinished } from 'vitest'
import { appPath, Command } from '../helpers/command.ts'

async function argumentsOf(workers: number, ...args: string[]): Promise<unknown> {
  const command = new Command([appPath('arguments'), '--workers', String(workers), '--port', '0', ...args])
  onTestFinished(() => command.end())
  const { port } = await command.listening()
  return (await fetch(`http://127.0.0.1:${port}`)).json()
}

it.each([1, 2])('passes arguments after -- to the app, with %i workers', async (workers) => {
  const args = ['--verbose', '--workers', '7', 'a b']
  expect(await argumentsOf(workers, '--', ...args)).toMatchObject({ args })
})

it.each([1, 2])('hides its own flags from the app, with %i workers', async (workers) => {
  expect(await argumentsOf(workers)).toMatchObject({ args: [] })
})

it('starts workers with --node-args', async () => {
  const given = await argumentsOf(2, '--node-args', '--max-old-space-size=123  --no-deprecation')
  expect(given).toMatchObject({ execArgv: ['--max-old-space-size=123', '--no-deprecation'] })
})

it('takes times and sizes with units', async () => {
  const units = ['--drain-timeout', '10s', '--recycle-rss', '2G', '--heartbeat-timeout', 'false']
  expect(await argumentsOf(2, ...units)).toMatchObject({ args: [] })
})

import { expect, it, onTestFinished } from 'vitest'
import { appPath, Command } from '../helpers/command.ts'
import { eventually } from '../helpers/eventually.ts'

const two = ['--workers', '2', '--port', '0', '--host', '127.0.0.1', '--no-standby']

function run(app: string, ...flags: string[]): Command {
  const command = new Command([appPath(app), ...two, ...flags])
  onTestFinished(() => command.end())
  return command
}

const count = (text: string, part: string): number => text.split(part).length - 1

it('puts the id of the worker before each line of both outputs, and none before JSON', async () => {
  const command = run('writes-output', '--log-prefix')
  await command.listening()
  await eventually(() => count(command.stderr, 'fails?') === 2 || undefined)
  expect(command.stdout.split('\n').toSorted()).toEqual([
    '',
    '[1] starts',
    '[2] starts',
    '{"level":30,"msg":"started"}',
    '{"level":30,"msg":"started"}',
  ])
  const lines = command.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{"'))
  expect(lines.toSorted()).toEqual(['[1] fails?', '[2] fails?'])
})

it('writes all of the output before the command ends', async () => {
  const command = run('writes-output', '--log-prefix')
  const { port } = await command.listening()
  await fetch(`http://127.0.0.1:${port}/much`)
  command.kill('SIGTERM')
  expect(await command.exit).toBe(0)
  const lines = command.stdout.split('\n')
  expect(lines.filter((line) => /^\[[12]\] ends$/.test(line))).toHaveLength(2)
  const numbered = lines.filter((line) => line.endsWith('xxx'))
  expect(numbered).toHaveLength(5000)
  expect(numbered.every((line, index) => /^\[[12]\] /.test(line) && line.includes(`] ${index} x`))).toBe(true)
})

it('cuts a line of 2 MiB', async () => {
  const command = run('writes-output', '--log-prefix')
  const { port } = await command.listening()
  await fetch(`http://127.0.0.1:${port}/long`)
  const long = await eventually(() => {
    const lines = command.stdout.split('\n').slice(0, -1)
    const found = lines.filter((line) => line.endsWith('yyy'))
    return found.length === 2 ? found : undefined
  })
  expect(long.map((line) => line.length)).toEqual([2 ** 20 + 4, 2 ** 20 + 4])
})

it('serves requests while nobody reads the output', async () => {
  const command = run('writes-output', '--log-prefix')
  const { port } = await command.listening()
  command.child.stdout!.pause()
  // More than the pipes hold.
  for (let request = 0; request < 3; request++) await fetch(`http://127.0.0.1:${port}/much`)
  command.child.stdout!.resume()
  await eventually(() => count(command.stdout, 'xxx\n') === 15_000 || undefined)
})

it('outlives the reader of the output', async () => {
  const command = run('writes-output', '--log-prefix')
  const { port } = await command.listening()
  command.child.stdout!.destroy()
  for (let request = 0; request < 5; request++)
    expect(await (await fetch(`http://127.0.0.1:${port}/much`)).text()).toBe('written')
  command.kill('SIGHUP')
  await command.logged(({ msg }) => msg.startsWith('reloaded: generation 2 is active'))
  expect(await (await fetch(`http://127.0.0.1:${port}/much`)).text()).toBe('written')
})

it('leaves the output as it is without the flag', async () => {
  const command = run('writes-output')
  await command.listening()
  await eventually(() => count(command.stdout, 'starts\n') === 2 || undefined)
  expect(command.stdout).not.toContain('[')
})

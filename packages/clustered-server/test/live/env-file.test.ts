import { rmSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Command } from '../helpers/command.ts'
import { eventually } from '../helpers/eventually.ts'
import { environmentOf, Project } from '../helpers/project.ts'

const two = ['app.ts', '--workers', '2', '--host', '127.0.0.1', '--env-file', '.env']

async function reload(command: Command, generation: number): Promise<void> {
  command.kill('SIGHUP')
  await command.logged(({ msg }) => msg.startsWith(`reloaded: generation ${generation} is active`))
}

/** Kills a worker, and resolves with the environment of another that has replaced it. */
async function afterDeath(command: Command): Promise<Readonly<Record<string, string>>> {
  const { pid } = await environmentOf(command)
  process.kill(pid, 'SIGKILL')
  await command.logged(({ msg }) => msg.includes('by SIGKILL'))
  const { port } = await command.listening()
  const seen = new Set<number>()
  // Until the workers that respond are two other ones.
  return eventually(async () => {
    const response = await fetch(`http://127.0.0.1:${port}`)
    const { env, pid: other } = (await response.json()) as { env: Record<string, string>; pid: number }
    seen.add(other)
    return seen.size >= 2 && !seen.has(pid) ? env : undefined
  })
}

it('is read again on a reload, and not before', async () => {
  const project = new Project({ '.env': 'VERSION=1\nREMOVED=yes\n' })
  const command = project.run([...two, '--port', '0', '--no-standby'])
  expect((await environmentOf(command)).env).toMatchObject({ VERSION: '1', REMOVED: 'yes' })
  project.write('.env', 'VERSION=2\n')
  expect((await environmentOf(command)).env['VERSION']).toBe('1')
  expect((await afterDeath(command))['VERSION']).toBe('1')
  await reload(command, 2)
  const { env } = await environmentOf(command)
  expect(env['VERSION']).toBe('2')
  expect(env['REMOVED']).toBeUndefined()
})

it('loses to the environment of the command, and PORT and HOST of workers are those of the server', async () => {
  const project = new Project({ '.env': 'PORT=0\nHOST=127.0.0.1\nFIXED=file\nFREE=file\n' })
  const args = ['app.ts', '--workers', '2', '--env-file', '.env']
  const command = project.run(args, { PORT: undefined, HOST: undefined, FIXED: 'environment' })
  const { port } = await command.listening()
  expect(command.log.find(({ msg }) => msg.startsWith('listening on'))?.msg).toContain('127.0.0.1')
  const before = await environmentOf(command)
  expect(before.env).toMatchObject({ PORT: String(port), FIXED: 'environment', FREE: 'file' })
  project.write('.env', 'PORT=1\nHOST=::1\nFIXED=file\nFREE=new\n')
  await reload(command, 2)
  expect((await environmentOf(command)).env).toMatchObject({ PORT: String(port), FIXED: 'environment', FREE: 'new' })
})

it('that is missing fails a reload, and the old workers go on with their variables', async () => {
  const project = new Project({ '.env': 'VERSION=1\n' })
  const command = project.run([...two, '--port', '0'])
  await environmentOf(command)
  rmSync(project.path('.env'))
  command.kill('SIGHUP')
  const line = await command.logged(({ level }) => level === 50)
  expect(line.msg).toContain(`cannot read environment file ${project.path('.env')}: ENOENT`)
  expect((await environmentOf(command)).env['VERSION']).toBe('1')
  expect((await afterDeath(command))['VERSION']).toBe('1')
  project.write('.env', 'VERSION=3\n')
  await reload(command, 3)
  expect((await environmentOf(command)).env['VERSION']).toBe('3')
})

it('applies to an app in the process of the command too', async () => {
  const project = new Project({ '.env': 'VERSION=1\nPORT=0\n' })
  const args = ['app.ts', '--workers', '1', '--env-file', '.env']
  expect((await environmentOf(project.run(args, { PORT: undefined }))).env['VERSION']).toBe('1')
})

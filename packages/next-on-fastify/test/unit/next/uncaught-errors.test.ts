import { createNextOnFastify } from 'next-on-fastify'
import { expect, it, onTestFinished } from 'vitest'
import { runProgram } from '../../helpers/run-program.ts'
import { standInApp } from '../../helpers/stand-in.ts'

const UNCAUGHT = 'uncaughtException'

/** Names of the listeners of this process that a test has added. */
function added(before: readonly unknown[]): string[] {
  const listeners = process.listeners(UNCAUGHT).filter((listener) => !before.includes(listener))
  onTestFinished(() => {
    for (const listener of listeners) process.off(UNCAUGHT, listener)
  })
  return listeners.map(({ name }) => name)
}

/** Runs a program in a process of its own, whose port `taken` is in use. */
function run(program: string): Promise<unknown> {
  return runProgram(`
    import { createServer } from 'node:http'
    import { createNextOnFastify } from 'next-on-fastify'

    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    server.unref()
    const taken = { host: '127.0.0.1', port: server.address().port }
    ${program}`)
}

it('ends the process with exit code 1 if the port is in use', async () => {
  const dir = JSON.stringify(standInApp({ name: 'logs-errors' }))
  await expect(
    run(`const app = await createNextOnFastify({ dir: ${dir} }); await app.listen(taken)`),
  ).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('EADDRINUSE') as string })
})

it.each(['await', 'void'])('ends the process with exit code 1 if Next fails to start, with `%s`', async (how) => {
  const dir = JSON.stringify(standInApp({ name: 'register-fails' }))
  await expect(run(`${how} createNextOnFastify({ dir: ${dir} })`)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('No database') as string,
  })
})

it('leaves uncaught errors to Next once the app listens', async () => {
  const before = process.listeners(UNCAUGHT)
  const app = await createNextOnFastify({ dir: standInApp({ name: 'logs-errors' }) })
  expect(added(before)).toEqual([])
  await app.listen({ host: '127.0.0.1', port: 0 })
  expect(added(before)).toEqual(['nextLogs'])
  await app.inject('/')
  expect(added(before)).toEqual(['nextLogs'])
  await app.close()
})

it('leaves uncaught errors to Next once an app without a port gets a request', async () => {
  const before = process.listeners(UNCAUGHT)
  const app = await createNextOnFastify({ dir: standInApp({ name: 'logs-errors' }) })
  await app.inject('/')
  expect(added(before)).toEqual(['nextLogs'])
})

it('retains listeners that `register` of instrumentation has added', async () => {
  const before = process.listeners(UNCAUGHT)
  const globals = globalThis as { register?: () => void }
  globals.register = () => void process.on(UNCAUGHT, function reports() {})
  onTestFinished(() => void delete globals.register)
  await createNextOnFastify({ dir: standInApp({ name: 'logs-errors' }) })
  expect(added(before)).toEqual(['reports'])
})

it('removes the listeners of a Next that fails to start', async () => {
  const before = process.listeners(UNCAUGHT)
  await expect(createNextOnFastify({ dir: standInApp({ name: 'register-fails' }) })).rejects.toThrow('No database')
  expect(added(before)).toEqual([])
})

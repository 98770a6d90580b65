import { expect, it } from 'vitest'
import { runProgram } from '../helpers/run-program.ts'
import { standInApp } from '../helpers/stand-in.ts'

/** Runs an app without a logger, and stops it by a signal. */
function stopped(hook: string): Promise<unknown> {
  const dir = JSON.stringify(standInApp())
  return runProgram(`
    import { createNextOnFastify } from 'next-on-fastify'

    const app = await createNextOnFastify({ dir: ${dir}, dev: false, gracefulStop: { timeout: 0 } })
    app.addHook('onClose', ${hook})
    await app.listen({ host: '127.0.0.1', port: 0 })
    setInterval(() => {}, 60_000)
    process.kill(process.pid, 'SIGTERM')`)
}

it.each([
  [
    'fails to close',
    `async () => { throw new Error('No collector') }`,
    'NextOnFastifyWarning: stop signal: closing failed (No collector)',
  ],
  ['does not close', '() => new Promise(() => {})', 'NextOnFastifyWarning: stop timeout: the app has not closed'],
])('exits with 1 and a warning if the app %s', async (_, hook, warning) => {
  await expect(stopped(hook)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(warning) as string })
})

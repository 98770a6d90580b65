import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { standInApp } from '../helpers/stand-in.ts'

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url))

/** Runs an app without a logger, and stops it by a signal. */
function stopped(hook: string): Promise<unknown> {
  const dir = JSON.stringify(standInApp())
  const program = `
    import { createNextOnFastify } from 'next-on-fastify'

    const app = await createNextOnFastify({ dir: ${dir}, dev: false, gracefulStop: { timeout: 0 } })
    app.addHook('onClose', ${hook})
    await app.listen({ host: '127.0.0.1', port: 0 })
    setInterval(() => {}, 60_000)
    process.kill(process.pid, 'SIGTERM')`
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: PACKAGE })
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

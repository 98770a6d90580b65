import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const index = new URL('../../src/index.ts', import.meta.url).href
const worker = fileURLToPath(new URL('../../src/worker/entry.ts', import.meta.url))
const hello = new URL('../fixtures/apps/hello.ts', import.meta.url).href

async function printedBy(script: string, ...argv: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script, ...argv])
  return stdout.trim()
}

it('rejects an app that starts a clustered server itself', async () => {
  const script = `
    import { createClusteredServer } from '${index}'
    const options = { workers: 1, port: 0, host: '127.0.0.1' }
    const server = await createClusteredServer('${hello}', options).catch((error) => error)
    console.log(server.code)
    await server.close?.()
  `
  expect(await printedBy(script, worker)).toBe('CLUSTERED_SERVER_INSIDE_WORKER')
  // Anywhere else the same script gets a server, which has no code.
  expect(await printedBy(script)).toBe('undefined')
})

it('workers do not run the --eval script of their primary', async () => {
  const script = `
    import { createClusteredServer } from '${index}'
    const server = await createClusteredServer('${hello}', { workers: 2, port: 0, host: '127.0.0.1' })
    const answer = await fetch('http://127.0.0.1:' + server.port)
    const pid = Number(await answer.text())
    console.log(server.status().workers.some((one) => one.pid === pid))
    await server.close()
  `
  expect(await printedBy(script)).toBe('true')
})

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createClusteredServer } from '../../src/index.ts'
import { fileTree } from '../helpers/file-tree.ts'
import { copyPackage } from '../helpers/without-workspace.ts'

const run = promisify(execFile)
const index = new URL('../../src/index.ts', import.meta.url).href
const hello = new URL('../fixtures/apps/hello.ts', import.meta.url).href

async function printedBy(script: string): Promise<string> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
  return stdout.trim()
}

it.each([
  ['this package', () => index],
  ['another copy of this package', () => `file://${join(copyPackage({}).folder, 'src/index.ts')}`],
])('rejects an app that starts a clustered server itself, by %s', async (_, packageOf) => {
  const script = `
    import { createClusteredServer } from ${JSON.stringify(packageOf())}
    export default () => createClusteredServer(${JSON.stringify(hello)}, { workers: 1, port: 0, host: '127.0.0.1' })`
  const app = `file://${join(fileTree({ 'app.mjs': script }), 'app.mjs')}`
  await expect(
    createClusteredServer(app, { workers: 2, port: 0, host: '127.0.0.1', signals: false }),
  ).rejects.toMatchObject({
    code: 'CLUSTERED_SERVER_INSIDE_WORKER',
  })
})

describe.each([1, 2])('rejects an app that starts itself (workers: %i)', (workers) => {
  const self = `
    import { createClusteredServer } from ${JSON.stringify(index)}
    await createClusteredServer(import.meta.url, { workers: ${workers}, port: 0, host: '127.0.0.1' })
    export default (request, response) => response.end()`

  it('as the main module', async () => {
    const app = join(fileTree({ 'app.mjs': self }), 'app.mjs')
    await expect(run(process.execPath, [app])).rejects.toThrow(
      /The app calls createClusteredServer\(\).*move the app to its own module/,
    )
  })

  it('of another module', async () => {
    const main = `
      import { createClusteredServer } from ${JSON.stringify(index)}
      await createClusteredServer(new URL('app.mjs', import.meta.url), { workers: ${workers}, port: 0 })`
    const folder = fileTree({ 'app.mjs': self, 'main.mjs': main })
    await expect(run(process.execPath, [join(folder, 'main.mjs')])).rejects.toThrow('CLUSTERED_SERVER_INSIDE_WORKER')
  })
})

it('lets a child process of a worker start a clustered server', async () => {
  const script = `
    import { execFile } from 'node:child_process'
    import { promisify } from 'node:util'
    const child = ${JSON.stringify(`
      import { createClusteredServer } from ${JSON.stringify(index)}
      const server = await createClusteredServer(${JSON.stringify(hello)}, { workers: 2, port: 0, host: '127.0.0.1' })
      console.log(server.status().workers.length > 1)
      await server.close()`)}
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', child])
    export default (request, response) => response.end(stdout)`
  const app = `file://${join(fileTree({ 'app.mjs': script }), 'app.mjs')}`
  const options = { workers: 2, port: 0, host: '127.0.0.1', signals: false, standby: false }
  const server = await createClusteredServer(app, options)
  onTestFinished(() => server.close())
  expect(await (await fetch(`http://127.0.0.1:${server.port}`)).text()).toBe('true\n')
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

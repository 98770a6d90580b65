import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { ok, slow, SMALL } from '../helpers/servers.ts'

const run = promisify(execFile)

it('a finished race leaves no object in memory, and no listener on its signal', async () => {
  const script = `
    import { getEventListeners } from 'node:events'
    import { setTimeout as wait } from 'node:timers/promises'
    import { race } from '${new URL('../../src/index.ts', import.meta.url).href}'
    const { signal } = new AbortController()
    const refs = []
    const measure = async () => {
      const one = race(${JSON.stringify({ ok, slow })}, ${JSON.stringify(SMALL)})
      refs.push(new WeakRef(one), new WeakRef(await one.measure({ signal })))
    }
    await measure()
    await measure()
    for (let time = 0; time < 5; time++) {
      await wait(20)
      gc()
    }
    console.log(refs.length, refs.filter((ref) => ref.deref()).length, getEventListeners(signal, 'abort').length)
  `
  const { stdout } = await run(process.execPath, ['--expose-gc', '--input-type=module', '--eval', script])
  expect(stdout).toBe('4 0 0\n')
})

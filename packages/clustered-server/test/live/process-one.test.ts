// The first process of a container, as which a namespace of one's own has it. Needs `unshare`, and to be allowed to use it.

import { spawnSync } from 'node:child_process'
import { describe, expect, it, onTestFinished } from 'vitest'
import { appPath, Command } from '../helpers/command.ts'
import { eventually } from '../helpers/eventually.ts'
import { childrenOf, commandOf, isAlive } from '../helpers/running-server.ts'

const NAMESPACE = ['unshare', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc']
const canMake = spawnSync(NAMESPACE[0]!, [...NAMESPACE.slice(1), 'true']).status === 0

const zombiesOf = (pid: number): number[] => childrenOf(pid).filter((child) => !isAlive(child))

function start(workers: number): Command {
  const options = ['--workers', String(workers), '--port', '0', '--host', '127.0.0.1']
  const command = new Command([appPath('leaves-orphans'), ...options], {}, NAMESPACE)
  onTestFinished(() => command.end())
  return command
}

describe.runIf(canMake).each([1, 2])('as process 1, with %i workers', (workers) => {
  it('exits with 0 and no process left on SIGTERM', async () => {
    const command = start(workers)
    const { pid } = await command.listening()
    expect(pid).toBe(1)
    const { msg } = await command.logged((line) => line.msg.startsWith('a shutdown may take'))
    expect(msg).toContain('docker stop --time 27 or terminationGracePeriodSeconds: 27')
    const [first] = childrenOf(command.child.pid!)
    process.kill(first!, 'SIGTERM')
    expect(await command.exit).toBe(0)
  })

  it('warns about zombies, and keeps running', { timeout: 60_000 }, async () => {
    const command = start(workers)
    const { port } = await command.listening()
    const ask = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
    await Promise.all(Array.from({ length: 20 }, () => ask('/orphan')))
    const [first] = childrenOf(command.child.pid!)
    await eventually(() => zombiesOf(first!).length === 20 || undefined)
    const { level, msg } = await command.logged((line) => line.msg.includes('zombie'))
    expect([level, msg]).toEqual([40, expect.stringMatching(/^\d+ zombie processes/)])
    expect(Number(await ask('/'))).toBeGreaterThan(0)
    // Its own become none.
    const worker = childrenOf(first!).find((pid) => commandOf(pid).includes('worker/entry.ts'))
    expect(worker !== undefined).toBe(workers > 1)
    if (worker) process.kill(worker, 'SIGKILL')
    await expect.poll(() => worker && childrenOf(first!).includes(worker), { timeout: 10_000 }).toBeFalsy()
    expect(zombiesOf(first!)).toHaveLength(20)
    expect(Number(await ask('/'))).toBeGreaterThan(0)
  })
})

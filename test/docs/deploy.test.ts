// What examples/deploy tells people to run is taken by the tools that would run it.

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Deployment } from 'kubernetes-models/apps/v1'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import { requireProgram } from '@test/required-program'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('../../examples/deploy/', import.meta.url))
const read = (file: string): string => readFileSync(join(folder, file), 'utf8')

describe('Kubernetes', () => {
  it.each([
    ['deployment', Deployment],
    ['service', Service],
    ['autoscaler', HorizontalPodAutoscaler],
    ['disruption-budget', PodDisruptionBudget],
  ])('the schema of its kind takes the %s', (file, Model) => {
    const manifest = new Model(parse(read(`kubernetes/${file}.yaml`)) as never)
    expect(() => manifest.validate()).not.toThrow()
  })

  it('a schema refuses what is not of its kind', () => {
    const manifest = parse(read('kubernetes/deployment.yaml').replace('maxSurge: 1', 'maxSurge: [1]')) as never
    expect(() => new Deployment(manifest).validate()).toThrow(/maxSurge/)
  })
})

it('whoever sends SIGTERM waits longer than the server takes', () => {
  const standard = (name: string): number =>
    Number(new RegExp(`'${name}', ([\\d_]+)`).exec(read('server.ts'))![1]!.replace('_', ''))
  const longest = (standard('SHUTDOWN_DELAY') + standard('DRAIN_TIMEOUT')) / 1000
  const { spec } = parse(read('kubernetes/deployment.yaml')) as {
    spec: { template: { spec: { terminationGracePeriodSeconds: number } } }
  }
  const unit = /^TimeoutStopSec=(\d+)$/m.exec(read('systemd/app.service'))!
  expect(longest).toBe(25)
  // An app has 5 seconds to close.
  expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(longest + 5)
  expect(Number(unit[1])).toBeGreaterThan(longest + 5)
})

describe('systemd', () => {
  const verify = async (change: (text: string) => string): Promise<string> => {
    const place = mkdtempSync(join(tmpdir(), 'units-'))
    try {
      const files = ['app.service', 'app.socket'].map((name) => {
        // It looks for the program, which is elsewhere on this machine.
        const text = change(read(`systemd/${name}`).replace('/usr/bin/node', process.execPath))
        writeFileSync(join(place, name), text)
        return join(place, name)
      })
      const { stderr } = await run('systemd-analyze', ['verify', '--man=no', ...files])
      return stderr
    } finally {
      rmSync(place, { recursive: true })
    }
  }

  it.runIf(requireProgram('systemd-analyze', 'systemd'))('systemd takes the units', async () => {
    expect(await verify((text) => text)).not.toContain('app.')
    expect(await verify((text) => text.replace('KillMode=mixed', 'KillMode=gentle'))).toContain('kill mode')
  })
})

describe('HAProxy', () => {
  const check = (file: string): Promise<{ stdout: string }> => {
    const env = { ...process.env, HAPROXY_BIND: '127.0.0.1:8080', HOST_A: '127.0.0.1', HOST_B: '127.0.0.1' }
    return run('haproxy', ['-c', '-f', file], { env })
  }

  it.runIf(requireProgram('haproxy', 'haproxy'))('HAProxy takes the configuration', async () => {
    await expect(check(join(folder, 'haproxy.cfg'))).resolves.toBeDefined()
    await expect(check(join(folder, 'server.ts'))).rejects.toThrow('haproxy')
  })
})

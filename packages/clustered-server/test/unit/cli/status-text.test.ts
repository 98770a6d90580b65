import { describe, expect, it } from 'vitest'
import type { ServiceStatus } from '../../../src/observability/service-status.ts'
import { servicesTable, statusLine, statusTable } from '../../../src/cli/services/status-text.ts'

const hour = 3_600_000

function status(more: Partial<ServiceStatus> = {}): ServiceStatus {
  const startedAt = Date.now() - 76 * hour
  const stats = { connections: 12_345, requests: 1, rss: 2 ** 31, heapUsed: 1, utilization: 1 }
  const worker = { id: 1234, pid: 4_194_303, generation: 1234, startedAt, ...stats }
  return {
    ...{ pid: 4_194_304, name: 'shop', startedAt, stopTimeout: 1, ready: true, generation: 1234, size: 2 },
    ...{ reloads: 1233, failedReloads: 10 },
    workers: [
      { ...worker, state: 'active' },
      { ...worker, state: 'retiring' },
    ],
    ...more,
  }
}

describe('the status of a service', () => {
  it('fits 80 columns with large numbers', () => {
    const lines = statusTable(status()).split('\n')
    expect(lines[0]).toBe('shop (4194304): ready, generation 1234, 1233 reloads, 10 failed')
    expect(lines[2]).toContain('active')
    expect(lines[2]).toContain('3d 4h')
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  })

  it('says one reload', () => {
    expect(statusTable(status({ reloads: 1 }))).toContain('generation 1234, 1 reload, 10 failed\n')
  })

  it('shows no escape sequences and line breaks of an app', () => {
    const text = statusTable(status({ name: 'a\u001B[2Jb', reloadError: 'the \u001B]0;x\u0007app\nfailed' }))
    expect(text).not.toMatch(/[^\P{C}\n]/u)
    expect(text.split('\n').slice(0, 2)).toEqual([
      'ab (4194304): ready, generation 1234, 1233 reloads, 10 failed',
      'last reload: the app',
    ])
  })

  it('has no workers where the app runs in one process', () => {
    expect(statusTable(status({ workers: [], size: 1 })).split('\n')).toHaveLength(2)
    expect(statusLine(status({ workers: [], size: 1 }))).toBe('shop (4194304): ready, generation 1234, 1 of 1 workers')
  })

  it('is a row in the table of several services, of at most 80 columns', () => {
    const lines = servicesTable([status({ name: 'n'.repeat(64) }), status({ ready: false })])
      .trimEnd()
      .split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[2]).toMatch(/^ +shop +4194304 +not ready +1 of 2 +1234 +3d 4h +10$/)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  })
})

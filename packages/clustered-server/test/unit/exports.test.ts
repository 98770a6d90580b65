import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as clusteredServer from '../../src/index.ts'

it('exports these values', () => {
  expect(Object.keys(clusteredServer).toSorted()).toMatchInlineSnapshot(`
    [
      "ClusteredServerError",
      "availableCores",
      "createClusteredServer",
      "runOnOneWorker",
    ]
  `)
})

it('exports these types', () => {
  const index = readFileSync(new URL('../../src/index.ts', import.meta.url), 'utf8')
  const types = [...index.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, all, list]) =>
    list!
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && (all !== undefined || name.startsWith('type ')))
      .map((name) => name.replace(/^type /, '')),
  )
  expect(types.toSorted()).toMatchInlineSnapshot(`
    [
      "AdminAddress",
      "AdminOptions",
      "ClusterStatus",
      "ClusteredServer",
      "ClusteredServerErrorCode",
      "ClusteredServerEvents",
      "ClusteredServerOptions",
      "HookName",
      "Logger",
      "RecycleOptions",
      "RecycleReason",
      "StuckReport",
      "StuckReportKind",
      "Task",
      "WorkerExit",
      "WorkerFigures",
      "WorkerName",
      "WorkerState",
      "WorkerStatus",
    ]
  `)
})

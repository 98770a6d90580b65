import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { subjects as clusteredServers } from '../suites/clustered-server.ts'
import { subjects as gatewaySubjects, dashboard, tail, upstreams } from '../suites/gateway.ts'
import { subjects as httpFrameworks } from '../suites/http-frameworks.ts'
import { build, BUILD_TIMEOUT, clusters as nextClusters, subjects as nextSubjects } from '../suites/next.ts'
import { subjects as trpc } from '../suites/trpc.ts'

afterEach(endSubjects)

const gateway = { ...gatewaySubjects, dashboard, tail, upstreams }
// Without PM2: it starts again and again what cannot listen, and fails when nobody reads what it says while it stops.
const clusteredServer = {
  'single-process': clusteredServers['single-process'].file,
  'node-cluster': clusteredServers['node-cluster'].file,
  clustered: clusteredServers.clustered.file,
}

// Without the standalone server, which has a build of its own, and a second one of the same file.
const { standalone: _, 'next-on-fastify-direct': __, ...withOneBuild } = nextSubjects
const { 'two-workers': clustered, 'fastify-cluster': fastifyCluster } = nextClusters
const next = Object.fromEntries(
  Object.entries({ ...withOneBuild, clustered, 'fastify-cluster': fastifyCluster }).map(([name, { file }]) => [
    name,
    file,
  ]),
)

beforeAll(() => build(), BUILD_TIMEOUT)

describe.each(Object.entries({ httpFrameworks, trpc, gateway, clusteredServer, next }))('%s', (_suite, subjects) => {
  describe.each(Object.entries(subjects))('%s', (_name, subject) => {
    const file = subject as URL

    // Windows has no SIGTERM: a process is ended at once.
    it.skipIf(process.platform === 'win32')('listens on any port, drains on SIGTERM and exits with 0', async () => {
      const { child, ended, origin } = await startSubject(file)
      // A connection that stays open must not keep the process alive.
      await (await fetch(`${origin}/`)).text()
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
    })

    it('fails with a port that is taken', async () => {
      const { port } = await startSubject(file)
      const [code] = await (await startSubject(file, { port })).ended
      expect(code).toBeGreaterThan(0)
    })
  })
})

import { text } from 'node:stream/consumers'
import getPort from 'get-port'
import { startSubject } from '../running-subjects.ts'
import { build, copiesOfBuild, factsOf, type SubjectName, subjects, type Variant } from '../suites/next.ts'
import type { Pair } from './differences.ts'
import type { BuildFacts } from './next-requests.ts'

export interface RunningPair extends Pair {
  readonly facts: BuildFacts
  readonly stop: () => Promise<void>
}

/** Two servers, each with a build of its own that nobody has asked anything yet; the second one with more in its environment. */
export async function startPair(
  variant: Variant,
  names: readonly [SubjectName, SubjectName],
  more: Readonly<Record<string, string>> = {},
): Promise<RunningPair> {
  await build(variant)
  const copies = await copiesOfBuild(variant, names.length)
  const starts = await Promise.allSettled(
    names.map(async (name, index) => {
      const { file, env } = subjects[name]
      const started = await startSubject(file, {
        // Next must know its port: it proxies to itself what `proxy.ts` rewrites.
        port: String(await getPort({ host: '127.0.0.1' })),
        env: { ...env, ...(index === 1 && more), NEXT_DIR: copies.dirs[index]!, NEXT_VARIANT: variant },
      })
      if (started.origin === '') throw new Error(`${name} has ended: ${await text(started.child.stderr)}`)
      return started
    }),
  )
  const servers = starts.flatMap((start) => (start.status === 'fulfilled' ? start.value : []))
  const stop = async (): Promise<void> => {
    for (const { child } of servers) child.kill('SIGKILL')
    await copies.remove()
  }
  const failed = starts.find((start) => start.status === 'rejected')
  if (failed) {
    // The other one may have started.
    await stop()
    throw failed.reason
  }
  const [reference, candidate] = servers
  return {
    reference: reference!.origin,
    candidate: candidate!.origin,
    facts: await factsOf(copies.dirs[0]!, variant),
    stop,
  }
}

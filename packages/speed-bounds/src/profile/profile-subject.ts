import getPort from 'get-port'
import { errorCodes, SpeedBoundsError } from '../errors.ts'
import type { Generator } from '../load/generator.ts'
import type { ResolvedCase, ResolvedRace, ResolvedSubject } from '../options/resolved.ts'
import { assertFewFailures } from '../race/failed-requests.ts'
import { compareResponses, type RightResponses } from '../subject/compare-responses.ts'
import type { RunningSubject } from '../subject/running-subject.ts'
import type { Supervisor } from '../subject/supervisor.ts'
import { type Inspector, openInspector } from './inspector-client.ts'
import type { Profile } from './profile.ts'
import { summarizeProfile, type V8Profile } from './summarize-profile.ts'

const HOST = '127.0.0.1'
/** Microseconds between two samples. */
const INTERVAL = 250
/** Milliseconds of the profiled round, and of the load before it, in which V8 optimizes the code. */
const TIME = { ROUND: 2000, WARM_UP: 1500 }

/** The parts of a race that a profile needs. */
export interface ProfileContext {
  readonly race: ResolvedRace
  readonly supervisor: Supervisor
  readonly generator: Generator
  readonly right: RightResponses
  readonly signal: AbortSignal
}

/** Profiles one process of a subject that Node runs, in a round that does not count. */
export async function profileSubject(
  context: ProfileContext,
  subject: ResolvedSubject,
  testCase: ResolvedCase,
): Promise<Profile> {
  const { race, supervisor, right, signal } = context
  const port = await getPort({ host: HOST })
  const run = await supervisor.start(withInspector(subject, port), { ...race, signal })
  try {
    await compareResponses(run, [testCase], right, { ...race.load, signal })
    const inspector = await openInspector(port, AbortSignal.any([signal, run.died]))
    try {
      return await profileRound(context, run, testCase, inspector)
    } finally {
      inspector.close()
    }
  } catch (error) {
    signal.throwIfAborted()
    if (run.died.aborted) throw run.died.reason
    if (error instanceof SpeedBoundsError) throw error
    throw new errorCodes.SPEED_BOUNDS_PROFILE_FAILED(
      `${subject.name} could not be profiled: ${(error as Error).message}`,
      { cause: error },
    )
  } finally {
    await run.stop()
  }
}

async function profileRound(
  { race, generator, right, signal }: ProfileContext,
  run: RunningSubject,
  testCase: ResolvedCase,
  inspector: Inspector,
): Promise<Profile> {
  await inspector.send('Profiler.enable')
  await inspector.send('Profiler.setSamplingInterval', { interval: INTERVAL })
  const load = { ...race.load, duration: TIME.ROUND, amount: undefined }
  const target = { origin: run.origin, testCase, status: right.get(testCase.name)!.status, load }
  let begun: Promise<unknown> = Promise.resolve()
  const lead = {
    milliseconds: Math.max(TIME.WARM_UP, race.minWarmUp),
    onBegin: () => void (begun = inspector.send('Profiler.start')),
  }
  // wrk has no lead: its load before the round is a round of its own.
  if (load.generator === 'wrk') {
    await generator.run(target, signal)
    lead.onBegin()
  }
  const result = await Promise.race([generator.run(target, signal, lead), run.untilDeath])
  await begun
  const { profile } = (await inspector.send('Profiler.stop')) as { profile: V8Profile }
  assertFewFailures(run, testCase, result)
  const { name, cwd } = run.subject
  return summarizeProfile(profile, { subject: name, testCase: testCase.name, responses: result.responses, cwd })
}

/** Whether Node runs the subject, so that V8 can profile it. */
export function canProfile({ file }: ResolvedSubject): boolean {
  return file !== undefined
}

/** The inspector listens on this machine only, and its URL has a random part that is not on stderr. */
function withInspector(subject: ResolvedSubject, port: number): ResolvedSubject {
  const [node, ...args] = subject.command
  return { ...subject, command: [node, `--inspect=${HOST}:${port}`, '--inspect-publish-uid=http', ...args] }
}

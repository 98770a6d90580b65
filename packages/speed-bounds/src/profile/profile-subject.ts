import { pathToFileURL } from 'node:url'
import { errorCodes, SpeedBoundsError } from '../errors.ts'
import type { Generator } from '../load/generator.ts'
import type { ResolvedCase, ResolvedRace, ResolvedSubject } from '../options/resolved.ts'
import { assertFewFailures } from '../race/failed-requests.ts'
import { compareResponses, type RightResponses } from '../subject/compare-responses.ts'
import type { RunningSubject } from '../subject/running-subject.ts'
import type { Supervisor } from '../subject/supervisor.ts'
import { siblingModule } from '../sibling-module.ts'
import type { Profile } from './profile.ts'
import { openProfilerSocket, type ProfilerSocket } from './profiler-socket.ts'
import { summarizeProfile, type V8Profile } from './summarize-profile.ts'

/** Microseconds between two samples. */
const INTERVAL = 250
/** Milliseconds of the profiled round, of the load before it, in which V8 optimizes the code, and of a start, about. */
const TIME = { ROUND: 2000, WARM_UP: 1500, START: 500 }

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
  const { race, right, signal } = context
  let socket: ProfilerSocket | undefined
  let run: RunningSubject | undefined
  try {
    socket = await openProfilerSocket()
    run = await startWithProfiler(context, subject, socket.path)
    await compareResponses(run, [testCase], right, { ...race.load, signal })
    return await profileRound(context, run, testCase, socket)
  } catch (error) {
    signal.throwIfAborted()
    if (run?.died.aborted) throw run.died.reason
    if (error instanceof SpeedBoundsError) throw error
    throw notProfiled(subject, error)
  } finally {
    await run?.stop()
    socket?.close()
  }
}

/** Starts a process with the profiler. It has run without: if it does not start, the profiler is the cause. */
async function startWithProfiler(
  { race, supervisor, signal }: ProfileContext,
  subject: ResolvedSubject,
  path: string,
): Promise<RunningSubject> {
  try {
    return await supervisor.start(withProfiler(subject, path), { ...race, signal })
  } catch (error) {
    throw notProfiled(subject, error)
  }
}

function notProfiled({ name }: ResolvedSubject, cause: unknown): SpeedBoundsError {
  return new errorCodes.SPEED_BOUNDS_PROFILE_FAILED(`${name} could not be profiled: ${(cause as Error).message}`, {
    cause,
  })
}

async function profileRound(
  { race, generator, right, signal }: ProfileContext,
  run: RunningSubject,
  testCase: ResolvedCase,
  socket: ProfilerSocket,
): Promise<Profile> {
  const either = AbortSignal.any([signal, run.died])
  await socket.send('Profiler.enable', either)
  await socket.send('Profiler.setSamplingInterval', either, { interval: INTERVAL })
  const load = { ...race.load, duration: TIME.ROUND, amount: undefined }
  const target = { origin: run.origin, testCase, status: right.get(testCase.name)!.status, load }
  let begun: Promise<unknown> = Promise.resolve()
  const lead = {
    milliseconds: Math.max(TIME.WARM_UP, race.minWarmUp),
    onBegin: () => {
      begun = socket.send('Profiler.start', either)
      // A failure is thrown after the round.
      begun.catch(() => {})
    },
  }
  // wrk has no lead: its load before the round is a round of its own.
  if (load.generator === 'wrk') {
    await generator.run(target, signal)
    lead.onBegin()
  }
  const result = await Promise.race([generator.run(target, signal, lead), run.untilDeath])
  await begun
  const { profile } = (await socket.send('Profiler.stop', either)) as { profile: V8Profile }
  assertFewFailures(run, testCase, result)
  const { name, cwd } = run.subject
  return summarizeProfile(profile, { subject: name, testCase: testCase.name, responses: result.responses, cwd })
}

/** Milliseconds that a profile takes, about. */
export function profileTime({ minWarmUp }: ResolvedRace): number {
  return TIME.START + Math.max(TIME.WARM_UP, minWarmUp) + TIME.ROUND
}

/** Whether Node runs the subject, so that V8 can profile it. */
export function canProfile({ file }: ResolvedSubject): boolean {
  return file !== undefined
}

function withProfiler(subject: ResolvedSubject, path: string): ResolvedSubject {
  const [node, ...args] = subject.command
  const preload = pathToFileURL(siblingModule('./profiler-preload', import.meta.url)).href
  const env = { ...subject.env, SPEED_BOUNDS_PROFILER: path }
  return { ...subject, command: [node, '--import', preload, ...args], env }
}

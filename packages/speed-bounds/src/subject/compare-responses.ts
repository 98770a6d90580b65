import { createTwoFilesPatch } from 'diff'
import { request } from 'undici'
import { SpeedBoundsError } from '../errors.ts'
import type { Answer, ResolvedCase } from '../options/resolve.ts'
import type { RunningSubject } from './subject.ts'

/** The right answers by case name, and whose they are. */
export type RightAnswers = Map<string, { answer: Partial<Answer>; from: string; status: number }>

/**
 * Asks a subject every case and holds its answers against the right ones. The first subject that is
 * asked sets what is right where the case does not say it.
 */
export async function checkAnswers(
  run: RunningSubject,
  cases: readonly ResolvedCase[],
  right: RightAnswers,
  limits: { requestTimeout: number; signal: AbortSignal },
): Promise<void> {
  for (const kase of cases) {
    const answer = comparable(await ask(run, kase, limits), kase)
    const { name } = run.subject
    if (!right.has(kase.name)) {
      const wanted = kase.expect && {
        ...answer,
        ...kase.expect,
        headers: { ...answer.headers, ...kase.expect.headers },
      }
      if (kase.expect?.status === undefined && (answer.status < 200 || answer.status > 299)) {
        throw new SpeedBoundsError(
          'SPEED_BOUNDS_WRONG_ANSWER',
          `${name} answers ${kase.method} ${kase.path} with status ${answer.status}. If that is right, say so: expect: { status: ${answer.status} }.\n${shown(answer)}`,
        )
      }
      right.set(kase.name, {
        answer: wanted ?? answer,
        from: wanted ? 'expected' : name,
        status: (wanted ?? answer).status,
      })
    }
    const { answer: wanted, from } = right.get(kase.name)!
    const expected = shown(wanted)
    const got = shown(answer)
    if (got !== expected) {
      throw new SpeedBoundsError(
        'SPEED_BOUNDS_WRONG_ANSWER',
        `${name} answers case '${kase.name}' (${kase.method} ${kase.path}) differently:\n${difference(expected, got, from, name)}`,
      )
    }
  }
}

async function ask(
  run: RunningSubject,
  kase: ResolvedCase,
  { requestTimeout, signal }: { requestTimeout: number; signal: AbortSignal },
): Promise<Answer> {
  try {
    const response = await request(run.origin + kase.path, {
      method: kase.method as 'GET',
      headers: { ...kase.headers },
      ...(kase.body === undefined ? {} : { body: kase.body }),
      signal: AbortSignal.any([run.died, signal, AbortSignal.timeout(requestTimeout)]),
      // No connection outlives its question, so none is still open when the clock starts.
      reset: true,
    })
    // Bytes, not characters: two answers that differ only in invalid UTF-8 are two answers.
    const body = Buffer.from(await response.body.arrayBuffer())
    const text = body.toString('utf8')
    const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
    return {
      status: response.statusCode,
      headers: Object.fromEntries(headers),
      body: Buffer.from(text, 'utf8').equals(body) ? text : `base64:${body.toString('base64')}`,
    }
  } catch (error) {
    signal.throwIfAborted()
    if (run.died.aborted) throw run.died.reason
    throw new SpeedBoundsError(
      'SPEED_BOUNDS_WRONG_ANSWER',
      `${run.subject.name} does not answer case '${kase.name}' (${kase.method} ${kase.path}): ${(error as Error).message}`,
      { cause: error },
    )
  }
}

function comparable(answer: Answer, kase: ResolvedCase): Answer {
  const { status, headers, body } = kase.normalise?.(structuredClone(answer)) ?? answer
  const kept = kase.compareHeaders.filter((name) => name in headers).map((name) => [name, headers[name]!])
  return { status, headers: Object.fromEntries(kept), body }
}

function shown({ status, headers, body }: Partial<Answer>): string {
  const lines = Object.entries(headers ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}: ${value}`)
  return [`status: ${status}`, ...lines, '', body].join('\n')
}

function difference(expected: string, got: string, from: string, name: string): string {
  return createTwoFilesPatch(from, name, expected, got, '', '', { context: 3 }).split('\n').slice(1).join('\n')
}

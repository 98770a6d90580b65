import { errorCodes } from '../errors.ts'
import type { ResolvedCase } from '../options/resolved.ts'
import type { ComparedResponse } from '../options/types.ts'
import { difference, shortText } from './response-difference.ts'
import type { RunningSubject } from './running-subject.ts'
import { sendRequest } from './send-request.ts'

/** The right responses by case, and where each comes from: a subject, or `expect`. */
export type RightResponses = Map<string, { response: Partial<ComparedResponse>; from: string; status: number }>

/**
 * Sends every case to a subject, and compares the responses with the right ones. The first subject defines the parts
 * that a case does not.
 */
export async function compareResponses(
  run: RunningSubject,
  cases: readonly ResolvedCase[],
  right: RightResponses,
  limits: { requestTimeout: number; signal: AbortSignal },
): Promise<void> {
  const { name } = run.subject
  for (const testCase of cases) {
    const response = comparedParts(await send(run, testCase, limits), testCase)
    if (!right.has(testCase.name)) right.set(testCase.name, rightResponseOf(response, testCase, name))
    const { response: expected, from } = right.get(testCase.name)!
    const [expectedText, gotText] = [textOf(expected), textOf(response)]
    if (gotText === expectedText) continue
    const { method, path } = testCase
    throw new errorCodes.SPEED_BOUNDS_WRONG_RESPONSE(
      `${name} responds differently to case '${testCase.name}' (${method} ${path}):\n${difference(expectedText, gotText, from, name)}`,
    )
  }
}

/** The right response to a case, from its `expect` and the response of the first subject. */
function rightResponseOf(
  response: ComparedResponse,
  { expect, method, path }: ResolvedCase,
  name: string,
): { response: ComparedResponse; from: string; status: number } {
  if (expect?.status === undefined && (response.status < 200 || response.status > 299)) {
    throw new errorCodes.SPEED_BOUNDS_WRONG_RESPONSE(
      `${name} responds to ${method} ${path} with status ${response.status}. If that is right, set expect: { status: ${response.status} }.\n${shortText(textOf(response))}`,
    )
  }
  if (expect === undefined) return { response, from: name, status: response.status }
  const expected = { ...response, ...expect, headers: { ...response.headers, ...expect.headers } }
  return { response: expected, from: 'expected', status: expected.status }
}

async function send(
  run: RunningSubject,
  { name, method, path, headers, body }: ResolvedCase,
  { requestTimeout, signal }: { requestTimeout: number; signal: AbortSignal },
): Promise<ComparedResponse> {
  try {
    const response = await sendRequest(run.origin + path, {
      ...{ method, headers, body },
      signal: AbortSignal.any([run.died, signal, AbortSignal.timeout(requestTimeout)]),
    })
    return { status: response.status, headers: { ...response.headers }, body: bodyText(response.body) }
  } catch (error) {
    signal.throwIfAborted()
    if (run.died.aborted) throw run.died.reason
    throw new errorCodes.SPEED_BOUNDS_WRONG_RESPONSE(
      `${run.subject.name} does not respond to case '${name}' (${method} ${path}): ${(error as Error).message}`,
      { cause: error },
    )
  }
}

/** Bytes that are not UTF-8 become base64, so that two bodies are equal only if their bytes are. */
function bodyText(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? text : `base64:${bytes.toString('base64')}`
}

function comparedParts(response: ComparedResponse, testCase: ResolvedCase): ComparedResponse {
  const { status, headers, body } = testCase.normalize?.(structuredClone(response)) ?? response
  const compared = testCase.compareHeaders.filter((name) => name in headers).map((name) => [name, headers[name]!])
  return { status, headers: Object.fromEntries(compared), body }
}

function textOf({ status, headers, body }: Partial<ComparedResponse>): string {
  const lines = Object.entries(headers ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}: ${value}`)
  return [`status: ${status}`, ...lines, '', body].join('\n')
}

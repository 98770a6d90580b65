import { describe, expect, it } from 'vitest'
import { errorCodes, type LoadOptions, type Subject } from '../../../src/index.ts'
import { resolveLoad } from '../../../src/options/resolve-load.ts'

/** The message of the error that options or a subject cause. */
function messageOf(options: unknown, subject: unknown = './server.ts'): string {
  try {
    resolveLoad(subject as Subject, options as LoadOptions)
  } catch (error) {
    return error instanceof errorCodes.SPEED_BOUNDS_INVALID_OPTION
      ? error.message
      : `an error without a code: ${String(error)}`
  }
  return 'no error'
}

it.each([
  [{ rate: 0 }, /^Invalid option "rate": expected requests per second above 0, or a share such as "50%"/],
  [{ rate: -5 }, /^Invalid option "rate": /],
  [{ rate: Number.NaN }, /^Invalid option "rate": /],
  [{ rate: 2_000_000 }, /^Invalid option "rate": /],
  [{ rate: '50' }, /^Invalid option "rate": /],
  [{ rate: '0%' }, /^Invalid option "rate": /],
  [{ rate: '5000%' }, /^Invalid option "rate": /],
  [{ rate: [100, null] }, /^Invalid option "rate\[1\]": /],
  [{ rate: [] }, /^Invalid option "rate": expected at least one rate, got an empty array\.$/],
  [{ rate: { from: 5 } }, /^Invalid option "rate\.to": /],
  [{ rate: { from: 5, to: 6, by: 1 } }, /^Invalid option "rate\.by": unknown/],
  [{ rate: [{ from: 0, to: 0 }] }, /^Invalid option "rate": expected a ramp with an end above 0/],
  [{ duration: 99 }, /^Invalid option "duration": expected milliseconds, an integer from 100/],
  [{ stages: [{ users: 1.5, duration: 5 }] }, /^Invalid option "stages\[0\]\.users": expected an integer from 0/],
  [{ stages: [{ users: 0, duration: 500 }] }, /^Invalid option "stages": expected at least one stage with users/],
  [
    { stages: [{ users: 1, duration: 50 }] },
    /^Invalid option "stages": expected stages of at least 100 ms together, got 50\.$/,
  ],
  [{ stages: [{ users: 1, duration: 500 }], rate: 5 }, /^Invalid option "rate": expected either "stages" or "rate"/],
  [{ stages: [{ users: 1, duration: 500 }], connections: 5 }, /^Invalid option "connections": expected either/],
  [{ timeScale: 2 }, /^Invalid option "timeScale": expected no value without "stages", got 2\.$/],
  [{ pause: 2 }, /^Invalid option "pause": expected no value without "stages"/],
  [{ stages: [{ users: 1, duration: 500 }], timeScale: 0 }, /^Invalid option "timeScale": expected a number above 0/],
  [{ path: 'x' }, /^Invalid option "path": expected a path that starts with "\/", without spaces, got "x"\.$/],
  [{ path: '/a b' }, /^Invalid option "path": /],
  [{ path: '/a\r\nx: y' }, /^Invalid option "path": /],
  [{ method: 'GET /' }, /^Invalid option "method": expected an HTTP method/],
  [{ headers: { 'a b': 'c' } }, /^Invalid option "headers\.a b": expected a name and a value of an HTTP header/],
  [{ headers: { a: 'c\r\nd: e' } }, /^Invalid option "headers\.a": expected a name and a value of an HTTP header/],
  [{ protocol: 'http3' }, /^Invalid option "protocol": expected "http1" or "http2" or "websocket", got "http3"\.$/],
  [{ protocol: 'websocket', method: 'POST' }, /^Invalid option "method": expected no method with WebSocket/],
  [{ requestTimeout: 60_001 }, /^Invalid option "requestTimeout": /],
  [{ rates: 5 }, /^Invalid option "rates": unknown\. Did you mean "rate"\?$/],
  [null, /^Invalid options: expected an object, got null\.$/],
])('rejects %j in one line', (options, message) => {
  expect(messageOf(options)).toMatch(message)
  expect(messageOf(options)).not.toContain('\n')
})

it.each([
  ['https://localhost:3000', /^Invalid option "subject": expected an http: URL without a path, .*, got "https:/],
  ['http://localhost:3000/path', /^Invalid option "subject": expected an http: URL without a path/],
  ['http://user:secret@localhost:3000', /^Invalid option "subject": /],
  ['http://', /^Invalid option "subject": /],
  [new URL('ws://localhost'), /^Invalid option "subject": /],
  [5, /^Invalid option "subjects\.subject": /],
])('rejects the subject %s', (subject, message) => {
  expect(messageOf({}, subject)).toMatch(message)
})

describe('a load', () => {
  it('has shares of the ceiling without a rate', () => {
    const { plan, origin, request } = resolveLoad('http://localhost:3000', {})
    const shares = ['10%', '50%', '90%'].map((share) => ({ from: share, to: share }))
    expect(plan).toEqual({ kind: 'rate', rates: shares, duration: 10_000 })
    expect(origin).toBe('http://localhost:3000')
    expect(request).toMatchObject({ protocol: 'http1', method: 'GET', path: '/' })
  })

  it('scales the time of its stages, and keeps their users', () => {
    const { plan, subject } = resolveLoad(new URL('file:///server.ts'), {
      stages: [
        { users: 50, duration: 10_000 },
        { users: 0, duration: 0 },
      ],
      timeScale: 0.25,
      pause: 3,
    })
    expect(plan).toEqual({
      kind: 'users',
      stages: [
        { users: 50, duration: 2500 },
        { users: 0, duration: 0 },
      ],
      pause: 3,
    })
    expect(subject!.file).toBe('/server.ts')
  })
})

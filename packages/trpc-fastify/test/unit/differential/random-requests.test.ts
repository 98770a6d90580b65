import {
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  dictionary,
  json,
  jsonValue,
  oneof,
  record,
  string,
  tuple,
  type Arbitrary,
} from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compare } from '../../helpers/differential/compare.ts'
import { rawExchange } from '../../helpers/differential/raw-exchange.ts'
import { echoMount } from '../../helpers/differential/requests.ts'

// The same requests on every run where a failure must not be news of another change.
const SETTINGS = { numRuns: 400, ...(process.env['CI'] ? { seed: 20_261_120 } : {}) }

/** Mostly what clients send, with something odd in it now and then. */
const mostly = (usual: readonly string[], odd: Arbitrary<string>): Arbitrary<string> =>
  oneof({ weight: 12, arbitrary: constantFrom(...usual) }, { weight: 1, arbitrary: odd })

/** Bytes that may stand in a request line, of which some should not. */
const character = string({
  unit: constantFrom(...Array.from('aé0%.,~/\\?&=+#;:@"\'<>[]{}|^`!$*()-_\u00FF')),
  maxLength: 6,
})
const escapes = constantFrom(
  '%',
  '%2',
  '%zz',
  '%25',
  '%00',
  '%2e',
  '%2C',
  '%2F',
  '%FF',
  '%C3%BC',
  '%ED%A0%80',
  '%F0%9F%91%8B',
  '%EF%BB%BF',
)
const odd = oneof(character, escapes)

const text: Arbitrary<string> = oneof(
  json({ maxDepth: 2 }),
  constantFrom('1', '"text"', '{"0":1,"1":{"a":2}}'),
  dictionary(constantFrom('0', '1', '2', '3', '__proto__', 'a'), jsonValue({ maxDepth: 1 }), { maxKeys: 4 }).map(
    (value) => JSON.stringify(value),
  ),
  constantFrom('', ' ', '{', 'null', '[]', '""', 'undefined', '\uFEFF1', '"\\ud800"', '{"0":'),
)

const NAMES = ['query', 'query', 'plain', 'blind', 'nested.query', 'nested.deeper.query', 'failing', 'mutation']
const path = oneof(
  { weight: 5, arbitrary: constantFrom(...NAMES) },
  { weight: 2, arbitrary: constantFrom('mutation', 'nested.deeper.mutation', 'mutation,mutation') },
  {
    weight: 3,
    arbitrary: array(constantFrom(...NAMES), { minLength: 1, maxLength: 4 }).map((names) => names.join(',')),
  },
  { weight: 1, arbitrary: tuple(constantFrom(...NAMES), odd).map((parts) => parts.join('')) },
  {
    weight: 1,
    arbitrary: constantFrom(
      'unknown',
      'constructor',
      '__proto__',
      'subscription',
      'toString',
      'query,unknown',
      'a%25b',
      '',
    ),
  },
)

const parameter = oneof(
  { weight: 6, arbitrary: text.map((input) => `input=${encodeURIComponent(input.toWellFormed())}`) },
  { weight: 4, arbitrary: constant('batch=1') },
  {
    weight: 1,
    arbitrary: tuple(
      mostly(['input', 'batch', 'other'], odd),
      constantFrom('', '='),
      mostly(['1', '', 'true'], odd),
    ).map((parts) => parts.join('')),
  },
)
const query = array(parameter, { maxLength: 4 }).map((parameters) =>
  parameters.length > 0 ? `?${parameters.join('&')}` : '',
)

const header = constantFrom(
  'Accept: */*',
  'Accept: text/plain, application/json',
  'Accept: application/jsonl;q=1',
  'trpc-accept: application/json',
  'Content-Type: text/plain',
  'Content-Type: APPLICATION/JSON ; charset=utf-8',
  'Content-Type: application/octet-stream',
  'X-Latin: caf\u00E9',
  'Origin: https://example.com',
)

const request = record({
  method: mostly(['GET', 'GET', 'POST'], constantFrom('PUT', 'HEAD', 'OPTIONS', 'DELETE', 'PATCH')),
  target: tuple(
    mostly(['/trpc/'], constantFrom('//trpc/', '/trpc//', '/TRPC/', '/', 'http://localhost/trpc/')),
    path,
    query,
  ).map((parts) => parts.join('')),
  host: mostly(['localhost', 'example.com:8080', '[::1]'], odd),
  headers: oneof(
    { weight: 3, arbitrary: constant(['Content-Type: application/json']) },
    { weight: 2, arbitrary: constant(['Content-Type: application/json', 'trpc-accept: application/jsonl']) },
    { weight: 1, arbitrary: array(header, { maxLength: 3 }) },
  ),
  body: text,
}).map(({ method, target, host, headers, body }) => {
  const content = ['POST', 'PUT', 'PATCH'].includes(method) ? Buffer.from(body) : Buffer.alloc(0)
  const length = content.length > 0 ? [`Content-Length: ${content.length}`] : []
  const head = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, ...headers, ...length, 'Connection: close', '', '']
  // As text, for a failure to be readable and to be sent again.
  return head.join('\r\n') + content.toString('latin1')
})

describe('random requests', () => {
  const comparison = compare((recorder) => echoMount(recorder, { maxBatchSize: 3, allowMethodOverride: true }))

  it('get equal responses', { timeout: 60_000 }, async () => {
    const statuses = new Map<number, number>()
    await assert(
      asyncProperty(request, async (bytes) => {
        const { status } = await comparison.exchange((app) => rawExchange(app, bytes))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }),
      SETTINGS,
    )
    // They were not all turned away at the door.
    expect(statuses.get(200)).toBeGreaterThan(SETTINGS.numRuns / 10)
  })
})

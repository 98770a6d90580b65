import { describe, it } from 'vitest'
import { HAS } from '../../helpers/peer-versions.ts'
import { compare, type Path } from '../../helpers/differential/compare.ts'
import { rawExchange } from '../../helpers/differential/raw-exchange.ts'
import { echoMount, ON_EMPTY_BODY } from '../../helpers/differential/requests.ts'

const HOST = 'Host: localhost:1'
const STREAM = 'trpc-accept: application/jsonl'

/** Lines of requests that `inject` cannot send, with the path that each must take. */
const REQUESTS: readonly (readonly [line: string, headers: readonly string[], on: Path, body?: string])[] = [
  ['GET /trpc/query?input=1 HTTP/1.1', [HOST], 'compiled'],
  ['GET /trpc/query?input=1 HTTP/1.1', ['Host: example.com', 'X-A: 1', 'X-A: 2'], 'compiled'],
  // Targets
  ['GET http://localhost/trpc/query?input=1 HTTP/1.1', [HOST], 'query'],
  ['GET http://other.example/trpc/query?input=1 HTTP/1.1', [HOST], 'query'],
  ['GET http://user:pass@localhost/trpc/query?input=1 HTTP/1.1', [HOST], 'query'],
  ['GET //trpc/query?input=1 HTTP/1.1', [HOST], 'nothing'],
  ['GET ///trpc/query HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/query#fragment HTTP/1.1', [HOST], 'query'],
  ['GET /trpc/query?input=1#fragment HTTP/1.1', [HOST], 'query'],
  ['GET /trpc/query?input="#"&input=2 HTTP/1.1', [HOST], 'query'],
  ['GET /trpc/query%23?input=1 HTTP/1.1', [HOST], 'procedure'],
  ['GET /trpc/../trpc/query HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/./query HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/.. HTTP/1.1', [HOST], 'procedure'],
  ['GET /trpc/. HTTP/1.1', [HOST], 'procedure'],
  ['GET /trpc/%2e%2e HTTP/1.1', [HOST], 'procedure'],
  ['GET /trpc\\query HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/query\\?input=1 HTTP/1.1', [HOST], 'procedure'],
  ['GET /\\trpc/query HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/query?input=\\ HTTP/1.1', [HOST], 'compiled'],
  ['GET /trpc/query?input="\\\\" HTTP/1.1', [HOST], 'compiled'],
  ['GET * HTTP/1.1', [HOST], 'nothing'],
  ['OPTIONS * HTTP/1.1', [HOST], 'nothing'],
  ['GET trpc/query HTTP/1.1', [HOST], 'nothing'],
  ['GET ?input=1 HTTP/1.1', [HOST], 'nothing'],
  // Bytes and escapes
  ['GET /trpc/query?input="\u00E9" HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/query?input="\u00C3\u00A9" HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/\u00C3\u00BCn\u00C3\u00AFc HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/query?x=\u00FF&input=1 HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/query?input="\u0001" HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/query?input="\t" HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/query?input="\u007F" HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/query?input=% HTTP/1.1', [HOST], 'query'],
  ['GET /trpc/query?input=%E0%A4%A HTTP/1.1', [HOST], 'query'],
  ['GET /trpc/query?x=%&input=1 HTTP/1.1', [HOST], 'compiled'],
  ['GET /trpc/% HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/%E0%A4%A HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/query%0 HTTP/1.1', [HOST], 'nothing'],
  ['GET /trpc/query?input="<>`{}|^" HTTP/1.1', [HOST], 'compiled'],
  ["GET /trpc/query?input='1' HTTP/1.1", [HOST], 'compiled'],
  // Hosts
  ['GET /trpc/query?input=1 HTTP/1.1', ['Host:'], 'host'],
  ['GET /trpc/query?input=1 HTTP/1.1', ['Host: a b'], 'host'],
  ['GET /trpc/query?input=1 HTTP/1.1', ['Host: a/b?c#d'], 'host'],
  ['GET /trpc/query?input=1 HTTP/1.1', ['Host: user@localhost'], 'host'],
  ['GET /trpc/query?input=1 HTTP/1.1', ['Host: localhost:99999'], 'host'],
  ['GET /trpc/query?input=1 HTTP/1.1', ['Host: [::'], 'host'],
  ['GET /trpc/query?input=1 HTTP/1.1', ['Host: [::1]:80'], 'compiled'],
  ['GET /trpc/query?input=1 HTTP/1.1', ['Host: 1.2.3'], 'compiled'],
  ['GET /trpc/query?input=1 HTTP/1.1', ['Host: 1.2.3.4.5'], 'host'],
  ['GET /trpc/query?input=1 HTTP/1.1', ['Host: h\u00F6st'], 'host'],
  ['GET /trpc/query?input=1 HTTP/1.1', ['Host: one', 'Host: two'], 'compiled'],
  ['GET /trpc/query?input=1 HTTP/1.1', [], 'nothing'],
  ['GET /trpc/query?input=1 HTTP/1.0', [], 'compiled'],
  ['GET /trpc/query?input=1 HTTP/1.0', [HOST], 'compiled'],
  // Headers
  ['GET /trpc/query?input=1 HTTP/1.1', [HOST, 'Accept: a', 'Accept: application/jsonl'], 'stream'],
  ['GET /trpc/query?input=1 HTTP/1.1', [HOST, 'trpc-accept: a', 'trpc-accept: b'], 'stream'],
  ['GET /trpc/query?input=1 HTTP/1.1', [HOST, 'X-Latin: caf\u00E9'], 'compiled'],
  ['GET /trpc/query?input=1 HTTP/1.1', [HOST, 'X-Empty:'], 'compiled'],
  [
    'GET /trpc/query?input=1 HTTP/1.1',
    [HOST, 'Content-Type: application/json', 'Content-Type: text/plain'],
    'compiled',
  ],
  ['GET /trpc/query?input=1 HTTP/1.1', [HOST, 'Content-Length: 1'], 'compiled', '1'],
  // Streamed batches
  ['GET /trpc/query,failing?batch=1&input={"0":1} HTTP/1.1', [HOST, STREAM], 'compiled'],
  ['GET /trpc/query,later?batch=1&input={"0":1} HTTP/1.1', [HOST, STREAM], 'compiled'],
  ['GET /trpc/query,later?batch=1&input={"0":1} HTTP/1.1', [HOST, STREAM, STREAM], 'stream'],
  ['GET /trpc/query,later?batch=1&input={"0":1} HTTP/1.0', [HOST, STREAM], 'compiled'],
  ['GET /trpc/query,failing?batch=1&input={"0":1} HTTP/1.0', [HOST, STREAM], 'compiled'],
  ['HEAD /trpc/query?input=1 HTTP/1.1', [HOST], 'method'],
  ['TRACE /trpc/query HTTP/1.1', [HOST], 'method'],
  ['PROPFIND /trpc/query HTTP/1.1', [HOST], 'nothing'],
  ['get /trpc/query HTTP/1.1', [HOST], 'nothing'],
  // Bodies
  [
    'POST /trpc/mutation HTTP/1.1',
    [HOST, 'Content-Type: application/json', 'Content-Length: 7'],
    'compiled',
    '{"a":1}',
  ],
  [
    'POST /trpc/mutation HTTP/1.1',
    [HOST, 'Content-Type: application/json', 'Transfer-Encoding: chunked'],
    'compiled',
    '3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n',
  ],
  [
    'POST /trpc/mutation HTTP/1.1',
    [HOST, 'Content-Type: application/json', 'Transfer-Encoding: chunked'],
    ON_EMPTY_BODY,
    '0\r\n\r\n',
  ],
  ['POST /trpc/mutation HTTP/1.1', [HOST, 'Content-Type: application/json', 'Content-Length: 0'], ON_EMPTY_BODY],
  ['POST /trpc/mutation HTTP/1.1', [HOST, 'Content-Type: application/json'], ON_EMPTY_BODY],
  ['POST /trpc/mutation HTTP/1.1', [HOST, 'Content-Length: 0'], 'content-type'],
  ['POST /trpc/mutation HTTP/1.1', [HOST], 'content-type'],
  [
    'POST /trpc/mutation HTTP/1.1',
    [HOST, 'Content-Type: application/json', 'Content-Type: text/plain', 'Content-Length: 1'],
    'compiled',
    '1',
  ],
  [
    'POST /trpc/mutation HTTP/1.1',
    [HOST, 'Content-Type: application/json', 'Content-Length: 4'],
    'compiled',
    '"\u00C3\u00A9"',
  ],
  [
    'POST /trpc/mutation HTTP/1.1',
    [HOST, 'Content-Type: application/json', 'Content-Length: 3'],
    HAS.lengthOfBytes ? 'compiled' : 'nothing',
    '"\u00E9"',
  ],
  [
    'POST /trpc/mutation HTTP/1.1',
    [HOST, 'Content-Type: application/json', 'Expect: 100-continue', 'Content-Length: 1'],
    'compiled',
    '1',
  ],
  [
    'POST /trpc/mutation HTTP/1.1',
    [HOST, 'Content-Type: application/json', 'Content-Encoding: gzip', 'Content-Length: 1'],
    'compiled',
    '1',
  ],
  [
    'POST /trpc/mutation HTTP/1.1',
    [HOST, 'Content-Type: multipart/form-data; boundary=x', 'Content-Length: 5'],
    'content-type',
    '--x--',
  ],
]

describe('over sockets', () => {
  const comparison = compare((recorder) => echoMount(recorder))
  const requests = REQUESTS.map(([line, headers, on, body = '']) => {
    const bytes = [line, ...headers, 'Connection: close', '', body].join('\r\n')
    return [JSON.stringify([line, ...headers, body]), bytes, on] as const
  })
  it.each(requests)('%s', async (_title, bytes, on) => {
    await comparison.exchange((app) => rawExchange(app, bytes), on)
  })
})

import type { RawAnswer, RawRequest } from './raw-request.ts'

type Headers = readonly (readonly [name: string, value: string])[]

/** What a build has of its own. */
export interface BuildFacts {
  readonly buildId: string
  /** Files under `/_next/static/`. */
  readonly assets: readonly string[]
}

/** One of each kind of answer that could come from memory, and some that never may. */
const core = (facts: BuildFacts): string[] => [
  '/',
  '/static',
  '/isr',
  '/ruled',
  '/posts/first',
  '/posts/gr%C3%BC%C3%9Fe',
  '/photos/1',
  '/ssr',
  '/handlers/cached',
  '/handlers/isr',
  '/handlers/dynamic',
  '/old/static',
  '/old/generated',
  '/old/isr',
  '/old/blocking/known',
  '/api/message',
  `/_next/data/${facts.buildId}/old/isr.json`,
  '/small.txt',
  '/generated/asset-15k.js',
  `/_next/static/${facts.assets[0]}`,
]

/** All that the app has. */
const pages = (facts: BuildFacts): string[] => [
  ...core(facts),
  '/tagged',
  '/posts/second',
  '/posts/with%20space',
  '/posts/100%25',
  '/posts/unknown',
  '/posts/nothing',
  '/fixed/a',
  '/fixed/c',
  '/docs',
  '/docs/a',
  '/docs/a/b',
  '/docs/x/y',
  '/photos',
  '/photos/2',
  '/client',
  '/form',
  '/draft',
  '/gone',
  '/moved',
  '/moved-late',
  '/broken',
  '/guarded',
  '/proxied',
  '/proxied/rewritten',
  '/proxied/redirected',
  '/streaming',
  '/robots.txt',
  '/handlers/cookies',
  '/handlers/broken',
  '/handlers/events',
  '/handlers/draft/off',
  '/handlers/draft/on',
  '/handlers/revalidate',
  '/old/ssr',
  '/old/ssr?missing=1',
  '/old/ssr?go=1',
  '/old/ssr?header=1',
  '/old/broken',
  '/old/blocking/new',
  '/old/blocking/nothing',
  '/old/blocking/moved',
  '/old/fallback/known',
  '/api/echo?a=1&b=2&a=3',
  '/api/parts/a/b',
  '/api/nothing',
  '/api',
  '/with%20space.txt',
  '/gr%C3%BC%C3%9Fe.txt',
  '/nested/index.html',
  '/nested',
  '/nested/',
  '/generated/asset-300k.js',
  '/generated/picture.png',
  '/_next/image?url=%2Fgenerated%2Fpicture.png&w=64&q=75',
  '/_next/image?url=%2Fgenerated%2Fpicture.png&w=65&q=75',
  '/_next/image?url=%2F%2Fexample.com%2Fpicture.png&w=64&q=75',
  '/_next/image',
  ...facts.assets.slice(1, 4).map((asset) => `/_next/static/${asset}`),
  '/_next/static/missing.js',
  `/_next/static/${facts.buildId}/_buildManifest.js`,
  `/_next/data/${facts.buildId}/old/static.json`,
  `/_next/data/${facts.buildId}/old/generated.json`,
  `/_next/data/${facts.buildId}/old/ssr.json?a=1`,
  `/_next/data/${facts.buildId}/old/blocking/data-first.json`,
  `/_next/data/${facts.buildId}/old/nothing.json`,
  '/_next/data/another-build/old/isr.json',
  '/rewritten/before',
  '/rewritten/posts/first',
  '/rewritten/message',
  '/rewritten/fallback/a/b',
  '/redirected/permanent',
  '/redirected/temporary/first',
  '/ruled?as=isr',
  '/old/generated?go=second',
  '/nothing',
  '/nothing/at/all',
  '/_next',
  '/_next/',
  '/_error',
  '/_not-found',
  '/404',
  '/500',
  '/index',
  '/old',
  '/favicon.ico',
]

/** Spellings that one server could take for the page and another not. */
const oddities: readonly string[] = [
  '//',
  '///static',
  '//static',
  '//example.com/static',
  '/\\example.com',
  '/static/',
  '/static//',
  '/static/.',
  '/static/..',
  '/./static',
  '/a/../static',
  '/%2e%2e/static',
  '/%73tatic',
  '/STATIC',
  '/static%2F',
  '/static%00',
  '/%',
  '/%E0%A4%A',
  '/static%',
  '/posts/%',
  '/posts/%E0%A4%A',
  '/posts/gr\u00c3\u00bc\u00c3\u009fe',
  '/posts/gr%c3%bc%c3%9fe',
  '/posts/first/',
  '/posts//first',
  '/posts/first%2Fsecond',
  '/posts/with+space',
  '/posts/[slug]',
  '/posts/%5Bslug%5D',
  '/isr/',
  '/isr//',
  '//isr',
  '/isr?',
  '/isr?a=1',
  '/isr?a=%',
  '/isr?a=%E0%A4%A',
  '/isr?a[]=1&a[]=2',
  '/isr?__nextDataReq=1',
  '/isr?_rsc=wrong',
  '/isr?nxtPslug=first',
  '/isr?__nextLocale=de',
  '/isr?amp=1',
  '/isr;a=1',
  '/isr#a',
  '/isr.html',
  '/isr.rsc',
  '/isr.json',
  '/isr.txt',
  '/isr.segments/_tree.segment.rsc',
  '/index.rsc',
  '/posts/first.rsc',
  '/old/isr?a=1',
  '/old/isr/',
  '/old//isr',
  '/old/isr.json',
  '/old/generated?b=1',
  '/old/blocking/known?slug=other',
  '/old/blocking/%E0%A4%A',
  '/handlers/cached?a=1',
  '/handlers/cached/',
  '/handlers/dynamic?a=1',
  '/api/message?a=1',
  '/api/message/',
  '/api//message',
  '/api/echo?%=1',
  '/small.txt?a=1',
  '/small.txt/',
  '/small.TXT',
  '//small.txt',
  '/generated/',
  '/generated/../small.txt',
  '/generated/..%2Fsmall.txt',
  '/with space.txt',
  '/with%2520space.txt',
  '/_next/static/../server/app/static.html',
  '/_next/static/%2e%2e/BUILD_ID',
  '/_next//static/missing.js',
  '/.next/BUILD_ID',
  '/package.json',
  'http://app.example/static',
  'http://other.example/static',
  'https://other.example:8080/isr?a=1',
  'static',
  '*',
  `/posts/${'long'.repeat(200)}`,
  `/static?${'a=1&'.repeat(2000)}`,
  `/${'a/'.repeat(500)}`,
  `/static/${'x'.repeat(20_000)}`,
]

const tree = encodeURIComponent(JSON.stringify(['', { children: ['__PAGE__', {}] }, null, null, true]))

/** Headers that Next decides by, or that could be thought to be. */
export const decisive: readonly Headers[] = [
  [['accept-encoding', 'gzip']],
  [['accept-encoding', 'gzip, deflate, br, zstd']],
  [['accept-encoding', 'br']],
  [['accept-encoding', 'deflate']],
  [['accept-encoding', 'identity']],
  [['accept-encoding', '*']],
  [['accept-encoding', 'GZIP']],
  [['accept-encoding', 'x-gzip']],
  [['accept-encoding', '']],
  [['accept-encoding', 'gzip;q=0']],
  [['accept-encoding', 'gzip;q=0.5, deflate;q=0.9']],
  [['accept-encoding', 'identity;q=1, gzip;q=0.1']],
  [['accept-encoding', 'identity;q=0']],
  [['accept-encoding', '*;q=0']],
  [
    ['accept-encoding', 'identity'],
    ['accept-encoding', 'gzip'],
  ],
  [['rsc', '1']],
  [['RSC', '1']],
  [['rsc', '0']],
  [['rsc', '']],
  [
    ['rsc', '1'],
    ['accept-encoding', 'gzip'],
  ],
  [
    ['rsc', '1'],
    ['next-router-prefetch', '1'],
  ],
  [
    ['rsc', '1'],
    ['next-router-prefetch', '2'],
  ],
  [
    ['rsc', '1'],
    ['next-router-prefetch', '1'],
    ['next-router-segment-prefetch', '/_tree'],
  ],
  [
    ['rsc', '1'],
    ['next-router-prefetch', '1'],
    ['next-router-segment-prefetch', '/_full'],
  ],
  [
    ['rsc', '1'],
    ['next-router-prefetch', '1'],
    ['next-router-segment-prefetch', '/__PAGE__'],
  ],
  [
    ['rsc', '1'],
    ['next-router-prefetch', '1'],
    ['next-router-segment-prefetch', '/nothing'],
  ],
  [
    ['rsc', '1'],
    ['next-router-state-tree', tree],
  ],
  [
    ['rsc', '1'],
    ['next-router-state-tree', 'no tree'],
  ],
  [
    ['rsc', '1'],
    ['next-url', '/photos'],
  ],
  [['next-router-prefetch', '1']],
  [['next-router-state-tree', tree]],
  [['next-url', '/photos']],
  [['if-none-match', '*']],
  [['if-none-match', '"another"']],
  [['if-modified-since', 'Fri, 01 Jan 2100 00:00:00 GMT']],
  [['if-modified-since', 'Mon, 01 Jan 1990 00:00:00 GMT']],
  [['if-modified-since', 'no date']],
  [['if-unmodified-since', 'Mon, 01 Jan 1990 00:00:00 GMT']],
  [['if-match', '"another"']],
  [['if-match', '*']],
  [['range', 'bytes=0-9']],
  [['range', 'bytes=-5']],
  [['range', 'bytes=0-1,4-5']],
  [['range', 'bytes=9999999-']],
  [['range', 'lines=1-2']],
  [
    ['range', 'bytes=0-9'],
    ['if-range', '"another"'],
  ],
  [['cache-control', 'no-cache']],
  [['cache-control', 'max-age=0']],
  [['pragma', 'no-cache']],
  [['cookie', '__prerender_bypass=wrong']],
  [['cookie', '__prerender_bypass=']],
  [['cookie', '__next_preview_data=wrong']],
  [['cookie', '__prerender_bypass=wrong; __next_preview_data=wrong']],
  [['cookie', 'session=1; variant=b; known=1']],
  [
    ['cookie', 'a=1'],
    ['cookie', 'known=1'],
  ],
  [['cookie', 'NEXT_LOCALE=de']],
  [['accept-language', 'de-DE,de;q=0.9']],
  [['authorization', 'Bearer secret']],
  [['x-prerender-revalidate', 'wrong']],
  [
    ['x-prerender-revalidate', 'wrong'],
    ['x-prerender-revalidate-if-generated', '1'],
  ],
  [['x-middleware-prefetch', '1']],
  [['x-middleware-subrequest', 'proxy:proxy:proxy:proxy:proxy']],
  [['x-middleware-subrequest', 'middleware:middleware:middleware:middleware:middleware']],
  [['x-middleware-invoke', '1']],
  [['x-middleware-rewrite', '/isr']],
  [['x-nextjs-data', '1']],
  [['x-nextjs-rewritten-path', '/isr']],
  [['x-matched-path', '/isr']],
  [['x-invoke-path', '/isr']],
  [['x-now-route-matches', '1=second']],
  [['x-next-revalidated-tags', 'numbers']],
  [['next-resume', '1']],
  [['next-action', 'wrong']],
  [['next-html-request-id', '1']],
  [['x-forwarded-host', 'evil.example']],
  [['x-forwarded-proto', 'https']],
  [['x-forwarded-for', '203.0.113.7']],
  [['x-forwarded-port', '8443']],
  [['forwarded', 'host=evil.example;proto=https']],
  [['x-original-url', '/guarded']],
  [['x-rewrite-url', '/guarded']],
  [['x-http-method-override', 'POST']],
  [['host', 'old.example.com']],
  [['host', 'evil.example:8080']],
  [['host', '']],
  [
    ['host', 'one.example'],
    ['host', 'two.example'],
  ],
  [['purpose', 'prefetch']],
  [['sec-purpose', 'prefetch;prerender']],
  [['user-agent', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)']],
  [['user-agent', 'Twitterbot/1.0']],
  [['accept', 'application/json']],
  [['accept', 'text/x-component']],
  [['accept', 'image/avif,image/webp,*/*']],
  [['x-want-header', 'this']],
  [['x-other-page', '1']],
  [['x-no-rewrite', '1']],
  [['origin', 'https://evil.example']],
  [
    ['origin', 'https://app.example'],
    ['access-control-request-method', 'POST'],
  ],
  [['upgrade-insecure-requests', '1']],
  [['expect', '100-continue']],
  [['expect', 'the unexpected']],
  [['content-length', '0']],
  [['x-large', 'x'.repeat(8000)]],
  [['x-too-large', 'x'.repeat(20_000)]],
]

/** Ways to ask for a page other than by GET; the target is still to come. */
export const methods: readonly RawRequest[] = [
  { method: 'HEAD', target: '' },
  { method: 'OPTIONS', target: '' },
  { method: 'POST', target: '', body: '' },
  { method: 'POST', target: '', body: '{"a":1}', headers: [['content-type', 'application/json']] },
  { method: 'POST', target: '', body: '{"a":', headers: [['content-type', 'application/json']] },
  { method: 'POST', target: '', body: 'a=1&b=2', headers: [['content-type', 'application/x-www-form-urlencoded']] },
  { method: 'POST', target: '', body: 'text', headers: [['content-type', 'text/plain']] },
  { method: 'POST', target: '', body: 'bytes', headers: [['content-type', 'no type']] },
  { method: 'POST', target: '', body: '5\r\nhello\r\n0\r\n\r\n', headers: [['transfer-encoding', 'chunked']] },
  { method: 'GET', target: '', body: 'a body' },
  { method: 'PUT', target: '', body: 'x' },
  { method: 'PATCH', target: '', body: 'x' },
  { method: 'DELETE', target: '' },
  { method: 'TRACE', target: '' },
  { method: 'PROPFIND', target: '' },
  { method: 'QUERY', target: '', body: 'x' },
  { method: 'get', target: '' },
  { method: 'NONSENSE', target: '' },
  { method: 'HEAD', target: '', headers: [['accept-encoding', 'gzip']] },
  { method: 'HEAD', target: '', headers: [['if-none-match', '*']] },
  { method: 'HEAD', target: '', headers: [['rsc', '1']] },
  { target: '', version: '1.0' },
  { target: '', version: '1.0', headers: [['accept-encoding', 'gzip']] },
]

/** In other spellings, when a build has a base path, a locale or a slash at the end. */
export interface Spelling {
  readonly prefixes?: readonly string[]
  readonly suffix?: string
  /** Data of pages names its locale behind the id of the build. */
  readonly locales?: readonly string[]
}

/** Pages whose data is asked for in each locale; the app has neither the first one nor the last. */
const LOCAL = ['', '/old/static', '/old/isr', '/old/generated', '/old/ssr', '/old/blocking/known', '/index']

const localData = ({ buildId }: BuildFacts, locales: readonly string[], names: readonly string[]): string[] =>
  locales.flatMap((locale) => names.map((name) => `/_next/data/${buildId}/${locale}${name}.json`))

/** Spellings of the prefix itself. */
const oddPrefixes = (prefix: string): string[] =>
  prefix === '' ? [] : [prefix, `${prefix}?a=1`, `${prefix}//`, `${prefix}x/isr`, prefix + prefix, prefix.toUpperCase()]

/**
 * Every page once, every odd spelling once, and of pages by headers and by methods every `step`th pair: each page
 * then still meets many headers, and each header many pages.
 */
export function nextRequests(facts: BuildFacts, step: number, spelling: Spelling = {}): RawRequest[] {
  const { prefixes = [''], suffix = '', locales = [] } = spelling
  const spelled = (path: string): string[] => prefixes.map((prefix) => respelled(path, prefix, suffix))
  const some = [...core(facts).flatMap(spelled), ...localData(facts, locales, ['/old/isr'])]
  const pairs: RawRequest[] = some.flatMap((target) => [
    ...decisive.map((headers) => ({ target, headers })),
    ...methods.map((method) => ({ ...method, target })),
  ])
  return [
    ...pages(facts)
      .flatMap(spelled)
      .map((target) => ({ target })),
    ...localData(facts, locales, LOCAL).map((target) => ({ target })),
    // Where the slash is missing.
    ...(suffix ? pages(facts) : []).map((target) => ({ target })),
    ...prefixes.flatMap(oddPrefixes).map((target) => ({ target })),
    ...oddities
      .flatMap((path) => (path.startsWith('/') ? prefixes.map((prefix) => prefix + path) : [path]))
      .map((target) => ({ target })),
    // The number of headers and methods is no multiple of the step: the pairs differ from page to page.
    ...pairs.filter((_, index) => index % step === 0),
  ]
}

function respelled(path: string, prefix: string, suffix: string): string {
  const [before = '', query] = path.split('?')
  const slashed = suffix && !/\.\w+$/.test(before) && !before.endsWith('/') ? before + suffix : before
  return prefix + slashed + (query === undefined ? '' : `?${query}`)
}

/** What one asks who has an answer: whether it is still fresh, parts of it, and where it leads to. */
export function followUps({ target, headers = [], method = 'GET' }: RawRequest, answer: RawAnswer): RawRequest[] {
  if (method !== 'GET') return []
  const header = (wanted: string): string | undefined =>
    answer.headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
  const also = (...more: Headers): RawRequest => ({ target, headers: [...headers, ...more] })
  // Next leads to the address that has the right hash of the headers.
  const location = header('location')
  if (location?.includes('_rsc=')) return [{ target: location, headers }]
  if (headers.length > 0 || !answer.status.includes(' 200 ')) return []
  const etag = header('etag')
  const modified = header('last-modified')
  return [
    ...(etag === undefined
      ? []
      : [
          also(['if-none-match', etag]),
          also(['if-none-match', etag.startsWith('W/') ? etag.slice(2) : `W/${etag}`]),
          also(['if-none-match', `"another", ${etag}`]),
          also(['if-none-match', etag.replaceAll('"', '')]),
          also(['if-none-match', etag], ['accept-encoding', 'gzip']),
          also(['if-none-match', etag], ['cache-control', 'no-cache']),
          also(['if-none-match', etag], ['if-modified-since', 'Mon, 01 Jan 1990 00:00:00 GMT']),
          also(['if-none-match', etag], ['rsc', '1']),
          also(['if-match', etag]),
          also(['range', 'bytes=0-9'], ['if-range', etag]),
          { ...also(['if-none-match', etag]), method: 'HEAD' },
          { ...also(['if-none-match', etag]), method: 'POST', body: '' },
        ]),
    ...(modified === undefined
      ? []
      : [
          also(['if-modified-since', modified]),
          also(['if-unmodified-since', modified]),
          also(['range', 'bytes=0-9'], ['if-range', modified]),
          { ...also(['if-modified-since', modified]), method: 'HEAD' },
        ]),
  ]
}

/** How many headers and methods there are: a step must not divide it. */
export const varieties: number = decisive.length + methods.length

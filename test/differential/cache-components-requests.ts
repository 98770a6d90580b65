import { decisive, methods } from './next-requests.ts'
import type { RawRequest } from './raw-request.ts'

type Headers = readonly (readonly [name: string, value: string])[]

/** Pages that are whole, pages with holes, what has a cache of its own, and what was no matter of components ever. */
const core: readonly string[] = [
  '/',
  '/static',
  '/cached',
  '/cached-metadata',
  '/draft',
  '/posts/first',
  '/shop/books/one',
  '/partial',
  '/late-metadata',
  '/nested/inner',
  '/search',
  '/dynamic',
  '/form',
  '/handlers/constant',
  '/handlers/cached',
  '/handlers/dynamic',
  '/old/static',
  '/old/isr',
  '/_next/data/build-1/old/isr.json',
  '/api/message',
  '/small.txt',
]

const others: readonly string[] = [
  '/posts/second',
  '/posts/with%20space',
  '/posts/first/',
  '//posts/first',
  '/posts/first?slug=second',
  '/posts/first?nxtPslug=second',
  '/cached?a=1',
  '/cached?__nextppronly=1',
  '/cached?__nextppronly=fallback',
  '/partial?__nextppronly=1',
  '/cached.rsc',
  '/cached.segments/_tree.segment.rsc',
  '/cached.segments/cached/__PAGE__.segment.rsc',
  '/posts/first.rsc',
  '/posts/[slug].rsc',
  '/index.rsc',
  '/partial.rsc',
  '/partial?a=1',
  '/search?q=1',
  '/search?q=1&q=2',
  '/gone',
  '/moved',
  '/nothing',
  '/_not-found',
  '/404',
  '/500',
  '/handlers/nothing',
  '/handlers/draft/off',
  '/handlers/cached?a=1',
  '/_next/data/build-1/old/static.json',
]

/** Clients whose name lets Next render otherwise, some that look like them, and some that do not. */
const agents: readonly string[] = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Googlebot-Image/1.0',
  'Mediapartners-Google',
  'Twitterbot/1.0',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'mozilla/5.0 (compatible; BINGBOT/2.0)',
  'Slackbot-LinkExpanding 1.0',
  'WhatsApp/2.23',
  'not-a-bot/1.0',
  'curl/8.0',
  '',
]

/** What the router of the App Router asks for of a page that has these segments. */
const ofRouter = (path: string): Headers[] => {
  const prefetched = (segment: string): Headers => [
    ['rsc', '1'],
    ['next-router-prefetch', '1'],
    ['next-router-segment-prefetch', segment],
  ]
  const segment = path.startsWith('/posts/') ? '/posts/$d$slug' : path === '/' ? '' : path
  return [
    [['rsc', '1']],
    [
      ['rsc', '1'],
      ['next-router-prefetch', '1'],
    ],
    [
      ['rsc', '1'],
      ['next-router-prefetch', '2'],
    ],
    ...['/_tree', '/_full', '/_head', '/_index', `${segment}/__PAGE__`].map(prefetched),
  ]
}

const APP_PAGE = /^\/(?!api|handlers|old|_next|small)/

/**
 * Every page once, and of all that clients may say of themselves and ask for every `step`th pair. What each page is asked for
 * by the router in the browser, and by whom, is asked in full.
 */
export function cacheComponentsRequests(step: number): RawRequest[] {
  const pairs: RawRequest[] = core.flatMap((target) => [
    ...decisive.map((headers) => ({ target, headers })),
    ...methods.map((method) => ({ ...method, target })),
    ...['GET', 'HEAD'].flatMap((method) =>
      agents.flatMap((agent) => [
        { method, target, headers: [['user-agent', agent] as const, ['accept-encoding', 'gzip'] as const] },
        { method, target, headers: [['user-agent', agent] as const, ['if-none-match', '"another"'] as const] },
      ]),
    ),
  ])
  const pages = core.filter((path) => APP_PAGE.test(path))
  return [
    ...[...core, ...others].map((target) => ({ target })),
    ...core.flatMap((target) => agents.map((agent) => ({ target, headers: [['user-agent', agent]] as const }))),
    ...pages.flatMap((target) => ofRouter(target).map((headers) => ({ target, headers }))),
    ...pages.flatMap((target, index) =>
      ofRouter(target).map((headers, which) => ({
        target,
        headers: [...headers, ['user-agent', agents[(index + which) % agents.length]!] as const],
      })),
    ),
    ...pairs.filter((_, index) => index % step === 0),
  ]
}

/** How many there are of each page in turn: a step must not divide it. */
export const cacheComponentsVarieties: number = decisive.length + methods.length + agents.length * 4

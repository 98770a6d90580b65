import type { CaseOptions, ComparedResponse, Subject } from 'speed-bounds'

const folder = new URL('../../examples/trpc/', import.meta.url)

export const subjects: Record<
  | 'trpc-fastify'
  | 'trpc-fastify-rest'
  | 'official-adapter'
  | 'official-standalone'
  | 'hono-trpc'
  | 'orpc'
  | 'plain-fastify'
  | 'plain-fastify-schema'
  | 'node-http',
  Subject
> = {
  'trpc-fastify': new URL('trpc-fastify.ts', folder),
  'trpc-fastify-rest': new URL('rest.ts', folder),
  'official-adapter': new URL('official-adapter.ts', folder),
  'official-standalone': new URL('official-standalone.ts', folder),
  'hono-trpc': new URL('hono-trpc.ts', folder),
  orpc: new URL('orpc.ts', folder),
  'plain-fastify': new URL('plain-fastify.ts', folder),
  'plain-fastify-schema': new URL('plain-fastify-schema.ts', folder),
  'node-http': new URL('node-http.ts', folder),
}

const input = (value: unknown): string => encodeURIComponent(JSON.stringify(value))
const name = input({ name: 'world' })
const orpcName = input({ json: { name: 'world' } })
/** Fastify adds a charset to the content type of its own JSON. */
const plain = { compareHeaders: [] } as const
const unwrapped = { ...plain, normalize: withoutEnvelope } as const
const batchOf = (paths: readonly string[]): string =>
  `${paths.join(',')}?batch=1&input=${input(Object.fromEntries(paths.map((_, index) => [index, { name: 'world' }])))}`
const stream = { headers: { 'trpc-accept': 'application/jsonl' }, normalize: decoded } as const

/** Requests that plain routes serve, too. */
export const plainCases: Record<'hello' | 'greet' | 'greetChecked' | 'note' | 'article', CaseOptions> = {
  hello: { path: '/trpc/hello', ...plain },
  greet: { path: `/trpc/greet?input=${name}`, ...plain },
  greetChecked: { path: `/trpc/greetChecked?input=${name}`, ...plain },
  note: {
    path: '/trpc/note',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'world' }),
    ...plain,
  },
  article: { path: '/trpc/article', ...plain },
}

/** REST routes of procedures and by hand. */
export const restCases: Record<'query' | 'path' | 'body' | 'long', CaseOptions> = {
  query: { path: '/rest/greetings?name=world' },
  path: { path: '/rest/checked-greetings/world' },
  body: {
    path: '/rest/notes',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'world' }),
  },
  long: { path: '/rest/article' },
}

/** The same requests with the inputs of tRPC and of oRPC, which has its own protocol. Only data of responses is compared. */
export const bothProtocols: typeof plainCases = {
  hello: { ...plainCases.hello, ...unwrapped },
  greet: { path: `/trpc/greet?input=${name}&data=${orpcName}`, ...unwrapped },
  greetChecked: { path: `/trpc/greetChecked?input=${name}&data=${orpcName}`, ...unwrapped },
  note: { ...plainCases.note, body: JSON.stringify({ name: 'world', json: { name: 'world' } }), ...unwrapped },
  article: { ...plainCases.article, ...unwrapped },
}

/** Requests that only tRPC servers support. */
export const trpcCases: Record<
  'batch' | 'middlewares' | 'options' | 'stream' | 'laterStream' | 'refused' | 'events',
  CaseOptions
> = {
  batch: { path: `/trpc/${batchOf(['hello', 'greet', 'hello', 'greet', 'hello'])}` },
  /** Three middlewares and a context. */
  middlewares: { path: '/context/whoAmI' },
  /** `createContext`, `responseMeta` and `onError`. */
  options: { path: '/full/hello' },
  stream: { path: `/trpc/${batchOf(['hello', 'greet', 'hello', 'greet', 'hello'])}`, ...stream },
  laterStream: { path: `/trpc/${batchOf(['hello', 'later', 'later'])}`, ...stream },
  refused: { path: '/full/refused', expect: { status: 403 } },
  /** A subscription of 20 events. */
  events: { path: `/trpc/burst?input=${input({ events: 20 })}` },
}

/** A subscription that sends ten events and then stays open. */
export const quiet: { path: string; until: string } = {
  path: `/trpc/quiet?input=${input({ events: 10 })}`,
  until: '"number":10}',
}

/** Returns the data of `{ result: { data } }` and of `{ json: data }`. */
function withoutEnvelope(answer: ComparedResponse): ComparedResponse {
  const { result, json } = JSON.parse(answer.body) as { result?: { data: unknown }; json?: unknown }
  return { ...answer, body: JSON.stringify(result ? result.data : json) }
}

type Encoded = [[unknown?], ...[key: string | null, type: number, id: number][]]

/** Decodes the lines of a streamed batch as a client does, since servers cut them differently. */
function decoded(answer: ComparedResponse): ComparedResponse {
  const [head, ...chunks] = answer.body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  const settled = new Map((chunks as [id: number, status: number, Encoded][]).map(([id, , value]) => [id, value]))
  const decode = ([[value], ...later]: Encoded): unknown =>
    later.reduce<unknown>((whole, [key, , id]) => {
      const found = decode(settled.get(id)!)
      return key === null ? found : { ...(whole as object), [key]: found }
    }, value)
  const results = Object.entries(head as Record<string, Encoded>).map(([index, value]) => [index, decode(value)])
  return { ...answer, body: JSON.stringify(Object.fromEntries(results)) }
}

/** Where and as whom to comment. */
export interface CommentTarget {
  readonly api: string
  /** `owner/name` */
  readonly repository: string
  readonly pullRequest: number
  readonly token: string
}

interface Comment {
  id: number
  body?: string
  user?: { type?: string } | null
}

const PER_PAGE = 100
/** GitHub rejects longer comments. */
const MAX_BODY = 65_000
/** Milliseconds of a request. */
const TIMEOUT = 30_000

/**
 * Writes a comment that begins with a hidden marker, or updates the one of an earlier run. Returns false if the token
 * may only read, as in pull requests from forks.
 */
export async function writeComment(target: CommentTarget, marker: string, text: string): Promise<boolean> {
  const body = `${marker}\n${text}`.slice(0, MAX_BODY)
  const earlier = await findComment(target, marker)
  const response = earlier
    ? await send(target, 'PATCH', `issues/comments/${earlier.id}`, { body })
    : await send(target, 'POST', `issues/${target.pullRequest}/comments`, { body })
  if (response.status === 401 || response.status === 403 || response.status === 404) return false
  if (!response.ok) throw new Error(`GitHub responded with status ${response.status} to the comment.`)
  return true
}

/** The comment of an earlier run. A person who copies the marker keeps his own comment. */
async function findComment(target: CommentTarget, marker: string): Promise<Comment | undefined> {
  for (let page = 1; ; page++) {
    const query = `issues/${target.pullRequest}/comments?per_page=${PER_PAGE}&page=${page}`
    const response = await send(target, 'GET', query)
    if (!response.ok) return undefined
    const comments = (await response.json()) as Comment[]
    const found = comments.find(({ body, user }) => user?.type === 'Bot' && body?.startsWith(marker))
    if (found || comments.length < PER_PAGE) return found
  }
}

function send(
  { api, repository, token }: CommentTarget,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  return fetch(`${api}/repos/${repository}/${path}`, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-github-api-version': '2022-11-28',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT),
  })
}

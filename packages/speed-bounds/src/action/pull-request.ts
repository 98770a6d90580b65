import { readFileSync } from 'node:fs'
import { git } from '../compare/git.ts'

/** The parts of an event that are numbers and hashes. Title and body are text of others, and never read. */
export interface PullRequest {
  readonly number: number
  readonly base: string
  readonly head: string
}

interface Event {
  pull_request?: { number?: unknown; base?: { sha?: unknown }; head?: { sha?: unknown } }
}

/** The pull request of an event. Undefined for other events. */
export function readPullRequest(eventPath: string): PullRequest | undefined {
  const { pull_request: pullRequest } = JSON.parse(readFileSync(eventPath, 'utf8')) as Event
  const { number, base, head } = pullRequest ?? {}
  if (!Number.isSafeInteger(number) || !isHash(base?.sha) || !isHash(head?.sha)) return undefined
  return { number: number as number, base: base.sha, head: head.sha }
}

/**
 * The commit to compare HEAD with. actions/checkout checks out the pull request merged into its base. The difference to
 * the first parent is that of the pull request alone, even if the base has moved since.
 */
export async function baseOf({ base, head }: PullRequest, directory: string): Promise<string> {
  const [first, second] = (await git(directory, 'show', '--no-patch', '--format=%P', 'HEAD')).trim().split(' ')
  return second === head ? first! : base
}

function isHash(text: unknown): text is string {
  return typeof text === 'string' && /^[0-9a-f]{40,64}$/.test(text)
}

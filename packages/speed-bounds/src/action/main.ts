// The script of the GitHub Action: compares HEAD with the base of the pull request, and writes a comment and a summary.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { EXIT } from '../cli/exit-codes.ts'
import { withoutHelpHint } from '../cli/help-hint.ts'
import { siblingModule } from '../sibling-module.ts'
import { writeComment } from './comment.ts'
import { baseOf, type PullRequest, readPullRequest } from './pull-request.ts'

const variable = (name: string): string => process.env[name] ?? ''
const input = (name: string): string => variable(`INPUT_${name.toUpperCase()}`).trim()
const config = input('config')
const directory = resolve(input('working-directory') || '.')
const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-action-'))

try {
  const pullRequest = readPullRequest(variable('GITHUB_EVENT_PATH'))
  const base = input('base') || (pullRequest && (await baseOf(pullRequest, directory)))
  if (base) process.exitCode = await compareWith(base, pullRequest)
  else fail('This event is no pull request: set the input "base".')
} catch (error) {
  fail((error as Error).message)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function compareWith(base: string, pullRequest: PullRequest | undefined): Promise<number> {
  const markdown = join(folder, 'comparison.md')
  const limit = input('fail-if-slower')
  const flags = [
    ...['--markdown', markdown],
    ...(limit ? [`--fail-if-slower=${limit}`] : []),
    ...(config ? [`--config=${config}`] : []),
  ]
  const cli = siblingModule('../cli/main', import.meta.url)
  // The Node of the job runs the servers, as it has installed their packages: the one of the runner may be another.
  const child = spawn('node', [cli, 'compare', ...flags, '--', base, 'HEAD'], {
    cwd: directory,
    env: withoutTokens(),
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  let problem = ''
  // Its lines are in the log as they come. One of them says why there is no comparison.
  createInterface({ input: child.stderr }).on('line', (line) => {
    process.stderr.write(`${line}\n`)
    if (/^(?:SPEED_BOUNDS_\w+|error): /.test(line))
      problem = withoutHelpHint(line.replace(/^error: /, ''), 'speed-bounds compare')
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  const [code] = (await once(child, 'close')) as [number | null]
  const text = existsSync(markdown) ? readFileSync(markdown, 'utf8') : ''
  if (text !== '') await publish(text, pullRequest)
  if (code === EXIT.inconclusive) {
    notify('warning', 'A case is inconclusive: it may be slower than allowed. Raise the budget to find out.')
    return 0
  }
  if (code === EXIT.broken)
    notify('error', `A case is slower by more than ${limit}. The step summary has the comparison.`)
  else if (code !== EXIT.holds) notify('error', problem || 'The comparison failed: see the log of this step.')
  return code ?? EXIT.failed
}

/** Servers, installs and builds of the pull request do not inherit the tokens of the job. */
function withoutTokens(): NodeJS.ProcessEnv {
  const secret = /^(?:INPUT_|ACTIONS_|GITHUB_TOKEN$|GH_TOKEN$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !secret.test(name)))
}

async function publish(text: string, pullRequest: PullRequest | undefined): Promise<void> {
  const summary = variable('GITHUB_STEP_SUMMARY')
  if (summary) appendFileSync(summary, `${text}\n`)
  const token = input('github-token')
  if (pullRequest === undefined || token === '') return
  const target = {
    ...{ api: variable('GITHUB_API_URL'), repository: variable('GITHUB_REPOSITORY'), token },
    pullRequest: pullRequest.number,
  }
  // Two configurations of a repository have a comment each.
  const marker = `<!-- speed-bounds ${encodeURIComponent(`${input('working-directory')} ${config}`)} -->`
  try {
    const isWritten = await writeComment(target, marker, text)
    if (!isWritten) notify('notice', 'The token may not write comments. The result is in the step summary.')
  } catch (error) {
    notify('warning', `No comment was written: ${(error as Error).message}`)
  }
}

function fail(message: string): void {
  notify('error', message)
  process.exitCode = EXIT.usage
}

/** A workflow command. A line break would begin another one. */
function notify(level: 'notice' | 'warning' | 'error', message: string): void {
  process.stdout.write(`::${level}::${message.replaceAll(/[\r\n]+/g, ' ')}\n`)
}

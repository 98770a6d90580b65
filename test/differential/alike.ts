import { setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'
import { compare, type Pair, titleOf } from './differences.ts'
import { ask, get, type RawAnswer, type RawRequest } from './raw-request.ts'

/** Asks both servers for each in turn, and gives what the first one answered; a number is a pause in milliseconds. */
export async function alike(pair: Pair, steps: readonly (RawRequest | number)[]): Promise<RawAnswer[]> {
  const answers: RawAnswer[] = []
  const differences: string[] = []
  for (const [index, step] of steps.entries()) {
    if (typeof step === 'number') {
      await setTimeout(step)
      continue
    }
    const { right, found } = await compare(pair, step)
    answers.push(right)
    if (found) differences.push(`step ${index}: ${titleOf(step)}\n${found}`)
  }
  expect(differences.join('\n')).toBe('')
  return answers
}

/** The form of `/form`, which is sent with a name and without any script. */
export async function formOf(pair: Pair): Promise<(name: string) => RawRequest> {
  const [form] = await alike(pair, [get('/form')])
  const action = /name="(\$ACTION_ID_\w+)"/.exec(form!.body.toString())?.[1]
  expect(action).toBeDefined()
  const boundary = 'a-boundary'
  const part = (field: string, value: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`
  return (name) => ({
    method: 'POST',
    target: '/form',
    headers: [
      ['content-type', `multipart/form-data; boundary=${boundary}`],
      ['origin', 'http://app.example'],
    ],
    body: `${part(action!, '')}${part('name', name)}--${boundary}--\r\n`,
  })
}

/** How many answers of the second server came from memory: none where it has no memory. */
export async function hitsOf({ candidate }: Pair): Promise<number> {
  const { body } = await ask(candidate, { target: '/fastify/stats' })
  return (JSON.parse(body.toString()) as { responseCache?: { hits: number } }).responseCache?.hits ?? 0
}

import { requireProgram } from '@test/required-program'
import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { afterEach, describe, expect, it } from 'vitest'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { cases, proxied, subjects } from '../suites/http-frameworks.ts'

it('every subject gives the same answers to all cases', async () => {
  await expect(race(subjects, { cases })).toHaveSameResponses()
})

it.runIf(requireProgram('haproxy', 'haproxy'))('gives the same responses behind HAProxy', async () => {
  await expect(race(proxied, { cases })).toHaveSameResponses()
})

it('a missing page is a 404 of the framework, whose body may differ', async () => {
  const { normalize: _, ...strict } = cases.missing
  await expect(expect(race(subjects, { cases: { missing: strict } })).toHaveSameResponses()).rejects.toThrow(
    'differently',
  )
})

afterEach(endSubjects)

describe.each(Object.entries(subjects))('%s', (_name, subject) => {
  it('survives hostile requests', async () => {
    const { child, origin } = await startSubject(subject as URL)
    for (const path of [
      '/api?name=%',
      '/api?name=%E0%A4%A',
      '/api?name=a&name=b',
      '/%',
      '//',
      `/${'a'.repeat(8000)}`,
    ]) {
      const response = await fetch(origin + path)
      expect(response.status).toBeLessThan(600)
      await response.text()
    }
    expect(child.exitCode).toBeNull()
    expect(await (await fetch(`${origin}/api?name=john&lastname=doe`)).text()).toBe('john doe')
  })
})

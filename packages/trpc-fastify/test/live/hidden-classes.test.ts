// V8 forgets the hidden class of what no object has, and the optimized code that knows it.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const script = fileURLToPath(new URL('../fixtures/hidden-classes.ts', import.meta.url))
const { stdout } = await promisify(execFile)(process.execPath, ['--allow-natives-syntax', script])

describe('blank objects have the hidden classes', () => {
  it.each(Object.entries(JSON.parse(stdout) as Record<string, object>))('of a request: %s', (_name, kept) => {
    expect(kept).toEqual({ options: true, info: true, request: true, call: true, scope: true, response: true })
  })
})

// What a request needed is garbage when it is answered, and the young generation must see that. A closure that
// holds the request and that V8 takes for reachable puts each request into the old generation (3 kB and more), until
// the code is optimised: long enough for the heap to grow to several times of what it needs, for good.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Promoted } from '../fixtures/promoted-bytes.ts'

const script = fileURLToPath(new URL('../fixtures/promoted-bytes.ts', import.meta.url))
const flags = ['--no-opt', '--no-maglev', '--max-semi-space-size=1']
const { stdout } = await promisify(execFile)(process.execPath, [...flags, script])

describe('bytes that a request leaves in the old generation', () => {
  it.each(Object.entries(JSON.parse(stdout) as Promoted))('%s', (_kind, bytes) => {
    expect(bytes).toBeLessThan(100)
  })
})

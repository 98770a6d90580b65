import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { type Call, errorCodes, type Progress, race } from '../../src/index.ts'
import { toHtml } from '../../src/index.ts'
import { bareNode } from '../helpers/bare-node.ts'
import { ok, processesWith, scripts, server, SMALL } from '../helpers/servers.ts'

const schema = JSON.parse(readFileSync(new URL('../../result.schema.json', import.meta.url), 'utf8')) as object

const names = ({ function: name, children }: Call): string[] => [name, ...children.flatMap(names)]

const burning = server(
  `burn(); response.end('ok')`,
  `function burn() { let sum = 0; for (let step = 0; step < 300_000; step++) sum += Math.sqrt(step); globalThis.sum = sum }`,
)
const command = { command: [process.execPath, String(ok.file)] } as const

describe('profile()', () => {
  it('says which functions take the time, of subjects that Node runs, and counts for no claim', async () => {
    const match = race({ ok, burning, command }, SMALL)
    const profiles = await match.profile()
    expect(profiles.map(({ subject }) => subject)).toEqual(['ok', 'burning'])
    const [plain, slow] = profiles
    expect(slow!.functions[0]).toMatchObject({
      function: 'burn',
      file: expect.stringMatching(/^server-\d+\.mjs$/) as string,
    })
    expect(names(slow!.tree)).toContain('burn')
    expect(names(plain!.tree)).not.toContain('burn')
    expect(plain!.responses).toBeGreaterThan(0)

    const result = match.result()
    expect(result).toMatchObject({ rounds: [], claims: [], profiles })
    const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema)
    validate(JSON.parse(JSON.stringify(result)))
    expect(validate.errors).toBeNull()
    // Results are shared: a profile has no path of this machine.
    expect(JSON.stringify(profiles)).not.toContain(scripts)

    const page = toHtml(result)
    expect(page).toContain('Flame graph of burning. Most self time: burn,')
    expect(page).toContain('Self time: burning compared with ok')
    expect(processesWith(scripts)).toEqual([])
  })

  it('opens no debugging port', async () => {
    const inspected = server(
      `response.end(JSON.stringify([url() ?? 'no port', process.env.SPEED_BOUNDS_PROFILER ?? 'no path']))`,
      `import { url } from 'node:inspector'`,
    )
    const right = { body: '["no port","no path"]' }
    // A subject that responds otherwise fails.
    expect(await race({ inspected, command }, { ...SMALL, expect: right }).profile()).toHaveLength(1)
  })

  it('reports the subject that is profiled, and the remaining time', async () => {
    const steps: string[] = []
    const onProgress = ({ phase, subject, done, total, remaining }: Progress): void =>
      void steps.push(`${phase} ${subject} ${done + 1}/${total}, ${remaining} ms`)
    await race({ ok, twin: ok }, { ...SMALL, onProgress }).profile()
    expect(steps).toEqual(['profiling ok 1/2, 8000 ms', 'profiling twin 2/2, 4000 ms'])
  })

  it.skipIf(process.platform === 'win32')(
    'fails with a code without the profiler, and leaves nothing behind',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-exec-'))
      const execPath = bareNode(folder)
      const sockets = (): string[] => readdirSync(tmpdir()).filter((name) => /^sb-\w{6}$/.test(name))
      const before = sockets()
      const failure = race({ bare: { ...ok, execPath }, ok }, SMALL).profile()
      await expect(failure).rejects.toThrow(errorCodes.SPEED_BOUNDS_PROFILE_FAILED)
      await expect(failure).rejects.toThrow(
        'bare could not be profiled: its process has not loaded the profiler. Its "execPath" must pass all arguments to Node.',
      )
      expect(processesWith(scripts)).toEqual([])
      expect(sockets()).toEqual(before)
      rmSync(folder, { recursive: true })
    },
  )
})

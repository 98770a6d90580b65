import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { type Call, errorCodes, race } from '../../src/index.ts'
import { toHtml } from '../../src/index.ts'
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

  it('fails with a code if the subject does not let itself be profiled, and leaves no process', async () => {
    const closed = server(`response.end('ok')`, `import('node:inspector').then(({ close }) => close())`)
    const failure = race({ closed, ok }, SMALL).profile()
    await expect(failure).rejects.toThrow(errorCodes.SPEED_BOUNDS_PROFILE_FAILED)
    await expect(failure).rejects.toThrow(/^closed could not be profiled: /)
    expect(processesWith(scripts)).toEqual([])
  })
})

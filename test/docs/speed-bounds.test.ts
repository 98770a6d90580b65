import { optionsOf as kindsOf, type OptionDescription } from 'checked-options'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import {
  caseSchema,
  claimSchema,
  commandSubjectSchema,
  configClaimSchema,
  fileSubjectSchema,
  raceSchema,
} from '../../packages/speed-bounds/src/options/schema.ts'
import { functionRaceSchema } from '../../packages/speed-bounds/src/options/function-options.ts'
import { loadSchema } from '../../packages/speed-bounds/src/options/load-schema.ts'
import { configSchema } from '../../packages/speed-bounds/src/options/config-schema.ts'
import { type DocumentedOption, optionsOf, withOptionRows } from './options-table.ts'

const path = (file: string): string => fileURLToPath(new URL(`../../packages/speed-bounds/${file}`, import.meta.url))
const read = (file: string): string => readFileSync(path(file), 'utf8')
const source = ['types', 'config-types', 'load-types'].map((file) => read(`src/options/${file}.ts`)).join('')

const raceKinds = kindsOf(raceSchema)
const caseKinds = kindsOf(caseSchema)
const caseNames = caseKinds.map(({ name }) => name)
const claimNames = kindsOf(claimSchema).map(({ name }) => name)

/** Options of a schema at its top level. */
const topLevel = (kinds: OptionDescription[]): OptionDescription[] => kinds.filter(({ name }) => !name.includes('.'))

/** The interfaces in the order of docs/options.md, with the options of their schemas. */
const INTERFACES: Record<string, OptionDescription[]> = {
  RaceOptions: topLevel(raceKinds).filter(({ name }) => !caseNames.includes(name)),
  CaseOptions: topLevel(caseKinds),
  MeasurementOptions: raceKinds
    .filter(({ name }) => name.startsWith('measurement.'))
    .map((kind) => ({ ...kind, name: kind.name.slice('measurement.'.length) })),
  ClaimOptions: topLevel(kindsOf(claimSchema)),
  FileSubject: topLevel(kindsOf(fileSubjectSchema)),
  CommandSubject: topLevel(kindsOf(commandSubjectSchema)),
  SpeedBoundsConfig: topLevel(kindsOf(configSchema)),
  ConfigClaim: topLevel(kindsOf(configClaimSchema)).filter(({ name }) => !claimNames.includes(name)),
  LoadOptions: topLevel(kindsOf(loadSchema)),
}

/** The value of a default in TSDoc, or undefined if it is a sentence. */
function valueOf({ standard }: DocumentedOption): unknown {
  return /^([\d'[{]|true$|false$)/.test(standard) ? JSON.parse(standard.replaceAll("'", '"')) : undefined
}

describe.each(Object.entries(INTERFACES))('%s', (name, kinds) => {
  const documented = optionsOf(source, name)

  it('has the options of its schema', () => {
    expect(documented.map(({ option }) => option)).toEqual(kinds.map((kind) => kind.name))
  })

  it.each(documented)('$option has the default of its schema', (option) => {
    const { default: standard } = kinds.find((kind) => kind.name === option.option)!
    expect(valueOf(option)).toEqual(standard)
  })
})

const functionSource = read('src/options/function-options.ts')
const functionKinds = topLevel(kindsOf(functionRaceSchema))

describe('FunctionRaceOptions', () => {
  const documented = optionsOf(functionSource, 'FunctionRaceOptions')

  it('has the options of its schema', () => {
    expect(documented.map(({ option }) => option)).toEqual(functionKinds.map(({ name }) => name))
  })

  it.each(documented)('$option has the default of its schema', (option) => {
    const { default: standard } = functionKinds.find(({ name }) => name === option.option)!
    expect(valueOf(option)).toEqual(standard)
  })
})

it('docs/functions.md has the rows of the TSDoc and of the schema', async () => {
  const rows = optionsOf(functionSource, 'FunctionRaceOptions').map(({ option, meaning, standard }) => {
    const { expected } = functionKinds.find(({ name }) => name === option)!
    return [`\`${option}\``, meaning, expected, standard]
  })
  await expect(withOptionRows(read('docs/functions.md'), [rows])).toMatchFileSnapshot(path('docs/functions.md'))
})

it('docs/options.md has the rows of the TSDoc and of the schemas', async () => {
  const tables = Object.entries(INTERFACES).map(([name, kinds]) =>
    optionsOf(source, name).map(({ option, meaning, standard }) => {
      const { expected } = kinds.find((kind) => kind.name === option)!
      return [`\`${option}\``, meaning, expected, standard]
    }),
  )
  // `vitest run --project docs -u` writes the tables.
  await expect(withOptionRows(read('docs/options.md'), tables)).toMatchFileSnapshot(path('docs/options.md'))
})

// What people get: the tarball, in an empty project, and the quick start of the README.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { NODES } from './quick-start.ts'
import { run, Tarball, tsconfig } from './tarball.ts'
import { isWellPacked } from './well-packed.ts'

const tarball = new Tarball('checked-options')
const { project } = tarball

const readme = readFileSync(join(tarball.source, 'README.md'), 'utf8')
/** A program of the README, and what it says that the program prints. */
const programOf = (name: string): { program: string; printed: string } => {
  const [, program = ''] = new RegExp(`\`\`\`js\\n(// ${name}\\n[^]*?)\`\`\``).exec(readme) ?? []
  const [, printed = ''] = new RegExp(`node ${name}[^]*?\\n\\n\`\`\`\\n([^]*?)\`\`\``).exec(readme) ?? []
  return { program, printed }
}
const start = programOf('start.js')
const observers = programOf('observers.js')

const FILES = {
  'package.json': '{ "private": true, "type": "module" }\n',
  'start.js': start.program,
  'observers.js': observers.program,
  'types.ts': `
import { anyOf, checkOptions, integer, object, oneOf, optional, type OptionsSchema } from 'checked-options'

interface Options {
  workers?: number | 'auto'
}
export const schema: OptionsSchema<Options, Required<Options>> = object({
  workers: optional(anyOf(integer(1), oneOf('auto')), 'auto'),
})
export const workers: number | 'auto' = checkOptions(schema, {}, (message) => new TypeError(message)).workers
// @ts-expect-error It takes strings, and the interface numbers.
export const other: OptionsSchema<Options> = object({ workers: optional(oneOf('one', 'two')) })
`,
  'tsconfig.json': tsconfig(['types.ts']),
}

beforeAll(() => tarball.install(FILES, ['@types/node']))

afterAll(() => tarball.remove())

isWellPacked(tarball, {
  dependencies: ['leven', 'valibot'],
  values: [
    ...[
      'ObserverFaults',
      'anyOf',
      'audibleLog',
      'boolean',
      'bytes',
      'checkOptions',
      'custom',
      'func',
      'instanceOf',
      'integer',
      'invalidOption',
      'isRecord',
      'list',
    ],
    ...[
      'milliseconds',
      'number',
      'object',
      'observer',
      'oneOf',
      'optional',
      'optionsOf',
      'port',
      'reasonOf',
      'record',
      'share',
      'string',
      'toJsonSchema',
      'withOldValues',
    ],
  ],
  types: [
    'Annotate',
    'ErrorLog',
    'JsonSchema',
    'ObjectOptions',
    'OptionDescription',
    'OptionsSchema',
    'Schema',
    'Unit',
  ],
})

it('type-checks', async () => {
  expect(await tarball.tsc()).toEqual({ code: 0, stdout: '', output: '' })
})

it('has no error in its types', async () => {
  expect(await tarball.errorsInTypes()).toEqual([])
})

it.each(['20', '22', '24'] as const)('prints what the README says on Node %s', async (version) => {
  for (const [file, { printed }] of Object.entries({ 'start.js': start, 'observers.js': observers })) {
    expect(await run(project, [NODES[version], file])).toEqual({ code: 0, stdout: printed, output: printed })
  }
})

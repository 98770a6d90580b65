// The schema of the parts of a configuration file that a race does not have.

import {
  anyOf,
  custom,
  list,
  object,
  oneOf,
  optional,
  optionsOf,
  type OptionsSchema,
  type Schema,
  string,
} from 'checked-options'
import type { SpeedBoundsConfig } from './config-types.ts'
import { configClaimSchema, raceSchema, renamedInRace } from './schema.ts'
import type { RaceOptions } from './types.ts'

/** The configuration without the options of the race, which `race()` checks. */
type OwnConfig = Omit<SpeedBoundsConfig, keyof RaceOptions>

const subjects: Schema<SpeedBoundsConfig['subjects']> = custom(
  'an object with at least one subject by name',
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0,
)
const commandLine: Schema<string> = string('a command line')

export const configSchema: OptionsSchema<OwnConfig> = object({
  subjects,
  claims: optional(list(configClaimSchema)),
  install: optional(anyOf(commandLine, oneOf(false))),
  build: optional(commandLine),
})

const names = [...optionsOf(configSchema), ...optionsOf(raceSchema)]
  .map(({ name }) => name)
  .filter((name) => !name.includes('.'))
const anything = optional(custom<unknown>('a value', () => true))

/** Names of all options: an unknown one is compared with those of the race and of the file. */
export const configNamesSchema: OptionsSchema<Record<string, unknown>> = object(
  Object.fromEntries(names.map((name) => [name, anything])),
  { renamed: renamedInRace },
)

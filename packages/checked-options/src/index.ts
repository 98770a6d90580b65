// Checking
export { checkOptions } from './check-options.ts'
export { invalidOption } from './message.ts'
export { reasonOf } from './reason.ts'
// Kinds of options
export {
  anyOf,
  boolean,
  bytes,
  custom,
  func,
  instanceOf,
  integer,
  list,
  milliseconds,
  number,
  oneOf,
  port,
  record,
  share,
  string,
} from './kinds.ts'
export { withOldValues } from './old-values.ts'
export { observer, ObserverFaults, type ErrorLog } from './observer.ts'
export { object, optional, type ObjectOptions, type OptionsSchema } from './object.ts'
// Warning
export { audibleLog } from './audible-log.ts'
// Describing
export { optionsOf, type OptionDescription } from './describe-options.ts'
export { toJsonSchema, type Annotate } from './json-schema.ts'
export { isRecord, type JsonSchema, type Unit } from './expectation.ts'
export type { Schema } from './schema.ts'

import { UNCOMPILED } from '../../src/options/schema.ts'

/** Not public: tRPC calls each procedure itself, as it does one of an unknown form. */
export const uncompiled = UNCOMPILED as unknown as boolean

/** Values of the option `fastPath`. */
export const FAST_PATHS: readonly boolean[] = [true, uncompiled, false]

import type { ClaimOptions, RaceOptions, Subject } from './types.ts'

/** A claim of the configuration file. */
export interface ConfigClaim extends Omit<ClaimOptions, 'signal'> {
  /** Name of the subject that the contender is compared with. */
  over: string
}

/**
 * Content of `speed-bounds.config.ts`, `.js`, `.mjs` or `.json`: subjects and claims, beside the options of the race.
 * Relative paths start at the folder of the file.
 */
export interface SpeedBoundsConfig extends Omit<RaceOptions, 'onProgress'> {
  /** Servers under test by name. `run` races them against each other, `compare` races each against itself at another commit. */
  subjects: Readonly<Record<string, Subject>>
  /** Claims that `run` decides, in this order. Without claims it measures one stage. @default none */
  claims?: readonly ConfigClaim[]
  /** Command line that installs the dependencies of a commit, or `false` if there are none. A shell runs it in the folder of the configuration. @default the frozen install of the package manager that the lockfile belongs to */
  install?: string | false
  /** Command line that builds a commit after its install, such as `npm run build`. A shell runs it in the folder of the configuration. @default none */
  build?: string
}

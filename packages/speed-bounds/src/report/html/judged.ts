import type { MetricFormats } from '../metric-formats.ts'
import type { RaceResult } from '../result.ts'

/** Claims and ratios of one race. */
export interface Judged {
  readonly claims: readonly Named<RaceResult['claims'][number]>[]
  readonly ratios: readonly Named<RaceResult['ratios'][number]>[]
  readonly formats: MetricFormats
}

/** With the name of its case, where there are several. */
type Named<T extends { case: string }> = Omit<T, 'case'> & { readonly case?: string | undefined }

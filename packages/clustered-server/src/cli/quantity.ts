// Sizes and times with a unit, such as 300M and 30s.

const SIZES = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }
const TIMES = { '': 1, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Bytes of `300M`, `1.5G` or `1048576`; `undefined` for a text that is no size. */
export function parseBytes(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([KMG]?)B?$/i.exec(text.trim()) ?? []
  return amount === undefined ? undefined : Math.round(Number(amount) * SIZES[unit.toUpperCase() as keyof typeof SIZES])
}

/** Milliseconds of `30s`, `1.5m`, `500ms` or `500`; `undefined` for a text that is no time. */
export function parseMilliseconds(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/i.exec(text.trim()) ?? []
  return amount === undefined ? undefined : Math.round(Number(amount) * TIMES[unit.toLowerCase() as keyof typeof TIMES])
}

const FACTORS = {
  milliseconds: { '': 1, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 },
  bytes: { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30 },
} as const

/** Parses `30s` or `1.5h` to milliseconds, `300M` or `1GB` to bytes. Returns other texts unchanged, for the error message. */
export function parseWithUnit(text: string, unit: keyof typeof FACTORS): number | string {
  const [, digits, suffix] = /^(\d+(?:\.\d+)?) ?([a-z]*)$/i.exec(text) ?? []
  const factors: Readonly<Record<string, number>> = FACTORS[unit]
  const factor = suffix === undefined ? undefined : factors[suffix.toLowerCase()]
  return factor === undefined ? text : Math.round(Number(digits) * factor)
}

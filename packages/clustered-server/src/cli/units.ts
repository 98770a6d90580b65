type Unit = 'milliseconds' | 'bytes'

const FACTORS: Readonly<Record<Unit, Readonly<Record<string, number>>>> = {
  milliseconds: { '': 1, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 },
  bytes: { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30 },
}

/** Describes what {@link parseWithUnit} parses, for error messages. */
export const expectedTexts: Readonly<Record<Unit, string>> = {
  milliseconds: 'a time such as 500ms, 30s or 1.5h',
  bytes: 'a size such as 64k, 300M or 1.5G',
}

/** Parses `30s` or `1.5h` to milliseconds, `300M` or `1GB` to bytes. Returns other texts unchanged, for the error message. */
export function parseWithUnit(text: string, unit: Unit): number | string {
  const [, digits, suffix] = /^(\d+(?:\.\d+)?) ?([a-z]*)$/i.exec(text) ?? []
  const factor = suffix === undefined ? undefined : FACTORS[unit][suffix.toLowerCase()]
  return factor === undefined ? text : Math.round(Number(digits) * factor)
}

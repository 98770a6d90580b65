/** wrk counts whole seconds. */
const WRK_ROUND = 1000

/** Milliseconds of a round without an `amount`: wrk rounds up. */
export function roundLength({ generator, duration }: { generator: string; duration: number }): number {
  return generator === 'wrk' ? Math.ceil(duration / WRK_ROUND) * WRK_ROUND : duration
}

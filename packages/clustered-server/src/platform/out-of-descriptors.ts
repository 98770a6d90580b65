/** No free file descriptor in this process, or in the whole system. */
const CODES = new Set<unknown>(['EMFILE', 'ENFILE'])

/** Whether a call failed because there was no free file descriptor. */
export function isOutOfDescriptors(error: unknown): boolean {
  return CODES.has((error as NodeJS.ErrnoException).code)
}

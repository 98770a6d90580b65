/**
 * Resolves with `work`, unless the event loop of this process has nothing left to run before, so that `work` can never
 * settle. An app that waits, such as for a database, keeps the event loop alive.
 *
 * @param stalled returns the error in that case; `undefined` when another process may still respond
 */
export async function unlessStalled<T>(work: Promise<T>, stalled: () => Error | undefined): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  let isSecond = false
  const onDrained = (): void => {
    const error = stalled()
    if (error && isSecond) return reject(error)
    isSecond = error !== undefined
    // The listeners of the app come after this one, and may start something.
    if (isSecond) setImmediate(() => {})
  }
  process.on('beforeExit', onDrained)
  try {
    return await Promise.race([work, promise])
  } finally {
    process.off('beforeExit', onDrained)
  }
}

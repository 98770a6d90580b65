/** The used parts of Next's servers. */
interface Prepared {
  readonly getServer?: () => Promise<{ readonly prepare?: () => Promise<void> } | undefined>
}

/**
 * Resolves when `register()` of the app's `instrumentation` has ended. Next in production is ready before that, and its
 * first requests wait for it. It does nothing for a Next that prepares in another way.
 */
export async function instrumentationRegistered(next: object): Promise<void> {
  const { server } = next as { readonly server?: Prepared }
  const inner = await server?.getServer?.()
  await inner?.prepare?.()
}

declare global {
  // oxlint-disable-next-line no-var -- only `var` declares a member of globalThis
  var renders: Map<string, number> | undefined
}

/** How often this process has rendered something: so a response shows whether Next has rendered it. */
export function renderOf(name: string): number {
  const renders = (globalThis.renders ??= new Map())
  const count = (renders.get(name) ?? 0) + 1
  renders.set(name, count)
  return count
}

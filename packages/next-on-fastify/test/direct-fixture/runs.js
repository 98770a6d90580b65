/** How often something has run in this process. */
export function runOf(name) {
  globalThis.runs ??= {}
  globalThis.runs[name] = (globalThis.runs[name] ?? 0) + 1
}

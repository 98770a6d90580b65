/** Exports of an app's module. */
export interface AppModule {
  readonly default?: unknown
  readonly warmUp?: unknown
  readonly metrics?: unknown
  readonly options?: unknown
}

/** Imports an app's module. Unwraps the nested default export of CommonJS compiled by TypeScript or Babel. */
export async function importApp(url: string): Promise<AppModule> {
  const outer = (await import(url)) as AppModule
  let inner = outer
  while (isNested(inner.default)) inner = inner.default
  const { default: app } = inner
  const { warmUp, metrics, options } = { ...inner, ...outer }
  return { default: app, warmUp, metrics, options }
}

/** Whether a default export is another module, which compilers mark, and not the app. */
function isNested(value: unknown): value is AppModule {
  if (typeof value !== 'object' || value === null) return false
  return '__esModule' in value || Object.prototype.toString.call(value) === '[object Module]'
}

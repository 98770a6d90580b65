/** What is read from the module of an app. */
export interface AppModule {
  readonly default?: unknown
  readonly warmUp?: unknown
  readonly metrics?: unknown
  readonly options?: unknown
}

/** Imports the module of an app: what TypeScript or Babel has compiled to CommonJS too, whose default export is nested. */
export async function importApp(url: string): Promise<AppModule> {
  const outer = (await import(url)) as AppModule
  let inner = outer
  while (isNested(inner.default)) inner = inner.default
  const { default: app } = inner
  const { warmUp, metrics, options } = { ...inner, ...outer }
  return { default: app, warmUp, metrics, options }
}

/** Whether a default export is another module, and not the app: compilers mark such objects. */
function isNested(value: unknown): value is AppModule {
  if (typeof value !== 'object' || value === null) return false
  return '__esModule' in value || Object.prototype.toString.call(value) === '[object Module]'
}

export function onRequestError({ message }, { path, method }, { routePath, routeType }) {
  globalThis.requestErrors ??= []
  globalThis.requestErrors.push({ message, path, method, routePath, routeType })
}

export function onRequestError({ message }, { path, method, headers }, { routePath, routeType }) {
  globalThis.requestErrors ??= []
  globalThis.requestErrors.push({ message, path, method, host: headers['x-forwarded-host'], routePath, routeType })
  if (message.endsWith('loud')) throw new Error('What is told of errors has failed')
}

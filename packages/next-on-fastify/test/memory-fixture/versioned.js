// Pages that say which version of the data they were made of, in so many lines that a mixture of two would be seen.

export function version() {
  return globalThis.dataVersion ?? 0
}

export function lines(of = version()) {
  return Array.from({ length: 40 }, (_, number) => `Line ${number}, version ${of}.`)
}

// Stack traces name the frames of the adapter's own code, so only their first lines can be equal.

export function withoutFrames(stack: string): string {
  return stack.split('\n')[0]!
}

/** With `isDev`, responses have stack traces. */
export function bodyWithoutFrames(body: string): string {
  return body.replaceAll(/"stack":("(?:[^"\\]|\\.)*")/g, (_, stack: string) => {
    return `"stack":${JSON.stringify(withoutFrames(JSON.parse(stack) as string))}`
  })
}

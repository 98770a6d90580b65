async function echo(request) {
  const { pathname, search } = new URL(request.url)
  const { connection: _, ...headers } = Object.fromEntries(request.headers)
  return Response.json({ method: request.method, path: pathname + search, headers, body: await request.text() })
}

export { echo as DELETE, echo as GET, echo as PATCH, echo as POST, echo as PUT }

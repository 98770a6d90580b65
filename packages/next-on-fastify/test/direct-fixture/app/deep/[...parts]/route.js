export async function GET(_, { params }) {
  const { parts } = await params
  const before = [...parts]
  // Nobody else may see that.
  parts.push('changed')
  return Response.json(before)
}

export default async function handler(request, response) {
  await response.revalidate(request.query.path)
  response.json({ revalidated: true })
}
